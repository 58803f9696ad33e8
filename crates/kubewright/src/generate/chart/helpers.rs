//! The text that several templates include.

use crate::generate::{NAME_LABEL, own_namespace};

/// `_helpers.tpl`, without its first line.
pub(super) fn helpers(operator: &str) -> String {
    let own = own_namespace(operator);
    format!(
        r#"
{{{{/* On every object. */}}}}
{{{{- define "{operator}.labels" -}}}}
{NAME_LABEL}: {operator}
app.kubernetes.io/instance: {{{{ .Release.Name | quote }}}}
app.kubernetes.io/managed-by: {{{{ .Release.Service | quote }}}}
app.kubernetes.io/version: {{{{ .Chart.AppVersion | quote }}}}
helm.sh/chart: {{{{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}}}
{{{{- end }}}}

{{{{/* At the end of names that a cluster has only once, so that each namespace can have a release. */}}}}
{{{{- define "{operator}.suffix" -}}}}
{{{{- if ne .Release.Namespace "{own}" -}}}}
-{{{{ .Release.Namespace }}}}
{{{{- end -}}}}
{{{{- end }}}}

{{{{/* The operator's image: by its digest if there is one, else by its tag, else that of the chart's version. */}}}}
{{{{- define "{operator}.image" -}}}}
{{{{- with .Values.image -}}}}
{{{{- if .digest -}}}}
{{{{ .repository }}}}@{{{{ .digest }}}}
{{{{- else -}}}}
{{{{ .repository }}}}:{{{{ .tag | default (printf "v%s" $.Chart.AppVersion) }}}}
{{{{- end -}}}}
{{{{- end -}}}}
{{{{- end }}}}
"#
    )
}
