//! A Grafana dashboard of an operator, about what the library counts (`metrics.rs`): nothing else is asked for.
//!
//! Pure; where Prometheus is, and which of its jobs is the operator, is chosen by whoever looks at it.

mod panels;

use serde_json::{Value, json};

use super::files::{File, header, json_file};
use panels::{Panel, rows};

/// What Grafana 12 writes.
const SCHEMA_VERSION: u32 = 41;
/// Columns of a dashboard.
const COLUMNS: usize = 24;
const WIDTH: usize = 8;
const HEIGHT: usize = 8;

/// The file below `deploy/dashboards/`; `command` is what its first line names.
pub fn dashboard_file(operator: &str, command: &str) -> File {
    let text = json_file("description", &header(command), &dashboard(operator));
    File { path: format!("deploy/dashboards/{operator}.json"), text }
}

/// The dashboard itself.
pub fn dashboard(operator: &str) -> Value {
    json!({
        "title": operator,
        "tags": ["kubernetes", "operator"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": true,
        "graphTooltip": 1, // the same moment in all panels
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": variables()},
        "panels": panels(),
    })
}

fn variables() -> Value {
    let of = |name: &str, label: &str, selector: &str| {
        let query =
            format!("label_values(controller_runtime_max_concurrent_reconciles{selector}, {name})");
        json!({
            "name": name, "label": label, "type": "query", "datasource": source(),
            "query": {"query": query, "refId": name}, "definition": query,
            "refresh": 2, // when the time range changes
            "sort": 1, "multi": true, "includeAll": true, "allValue": ".*",
            "current": {"text": "All", "value": "$__all"},
        })
    };
    json!([
        {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
        of("job", "Job", ""),
        of("controller", "Controller", "{job=~\"$job\"}"),
    ])
}

/// Where the figures come from: the one that is chosen above.
fn source() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

/// Rows with their panels, from left to right and from top to bottom.
fn panels() -> Vec<Value> {
    let mut all = Vec::new();
    let mut top = 0;
    for (row, panels) in rows() {
        let place = json!({"x": 0, "y": top, "w": COLUMNS, "h": 1});
        all.push(json!({"id": all.len() + 1, "type": "row", "title": row, "collapsed": false, "gridPos": place, "panels": []}));
        top += 1;
        for (at, panel) in panels.iter().enumerate() {
            let (column, line) = (at % (COLUMNS / WIDTH), at / (COLUMNS / WIDTH));
            let place =
                json!({"x": column * WIDTH, "y": top + line * HEIGHT, "w": WIDTH, "h": HEIGHT});
            all.push(written(panel, all.len() + 1, &place));
        }
        top += panels.len().div_ceil(COLUMNS / WIDTH) * HEIGHT;
    }
    all
}

fn written(panel: &Panel, id: usize, place: &Value) -> Value {
    let targets = panel.expressions.iter().enumerate().map(|(at, (expression, legend))| {
        let name = char::from(b'A'.saturating_add(u8::try_from(at).unwrap_or_default()));
        json!({
            "refId": name.to_string(), "datasource": source(),
            "expr": expression, "legendFormat": legend, "range": true,
        })
    });
    json!({
        "id": id, "type": "timeseries", "title": panel.title, "description": panel.about,
        "datasource": source(), "gridPos": place,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "min": 0, "custom": {"fillOpacity": 10, "showPoints": "never"}},
            "overrides": [],
        },
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": targets.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_have_numbers_of_their_own_and_do_not_lie_on_each_other() {
        let panels = panels();
        let mut places = std::collections::BTreeSet::new();
        for (at, panel) in panels.iter().enumerate() {
            assert_eq!(panel["id"], at + 1);
            assert!(
                places.insert((panel["gridPos"]["y"].as_u64(), panel["gridPos"]["x"].as_u64()))
            );
        }
    }

    #[test]
    fn no_data_source_is_wired_in() {
        let text = dashboard("a-operator").to_string();
        let named = text.matches("\"uid\":").count();
        assert_eq!(named, text.matches("\"uid\":\"${datasource}\"").count());
        assert!(named > rows().len());
    }
}
