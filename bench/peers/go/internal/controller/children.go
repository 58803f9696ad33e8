package controller

import (
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	cachev1alpha1 "example.com/memcached-peer/api/v1alpha1"
)

const (
	memcachedName = "memcached"
	instanceLabel = "cache.example.com/memcached"
	defaultImage  = "docker.io/library/memcached:1.6.45"
	defaultPort   = 11211
	// From this port on, no privilege is needed.
	firstUnprivilegedPort = 1024
	memcachedUser         = 1001
)

// podLabelsFor are the labels of an object's pods.
func podLabelsFor(name string) map[string]string {
	return map[string]string{
		instanceLabel:                name,
		"app.kubernetes.io/name":     memcachedName,
		"app.kubernetes.io/instance": name,
	}
}

// labelsFor are the labels of an object's children.
func labelsFor(name string) map[string]string {
	labels := podLabelsFor(name)
	labels["app.kubernetes.io/managed-by"] = "memcached-operator"
	return labels
}

// selectorFor selects the pods of an object and no others.
func selectorFor(name string) map[string]string {
	return map[string]string{instanceLabel: name}
}

// imageFor is the object's image, else that of the operator's environment, else the default.
func imageFor(memcached *cachev1alpha1.Memcached) string {
	if memcached.Spec.Image != nil {
		return *memcached.Spec.Image
	}
	if image, found := os.LookupEnv("MEMCACHED_IMAGE"); found {
		return image
	}
	return defaultImage
}

// deploymentFor is the Deployment that runs the instances.
func (r *MemcachedReconciler) deploymentFor(memcached *cachev1alpha1.Memcached) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:      memcached.Name,
			Namespace: memcached.Namespace,
			Labels:    labelsFor(memcached.Name),
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: memcached.Spec.Size,
			Selector: &metav1.LabelSelector{MatchLabels: selectorFor(memcached.Name)},
			Strategy: appsv1.DeploymentStrategy{
				Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{
					MaxSurge:       ptr.To(intstr.FromInt32(0)),
					MaxUnavailable: ptr.To(intstr.FromInt32(1)),
				},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: podLabelsFor(memcached.Name)},
				Spec: corev1.PodSpec{
					AutomountServiceAccountToken: ptr.To(false),
					EnableServiceLinks:           ptr.To(false),
					SecurityContext:              podSecurityContextFor(memcached),
					Containers:                   []corev1.Container{containerFor(memcached)},
				},
			},
		},
	}
	if err := ctrl.SetControllerReference(memcached, deployment, r.Scheme); err != nil {
		return nil, err
	}
	return deployment, nil
}

func podSecurityContextFor(memcached *cachev1alpha1.Memcached) *corev1.PodSecurityContext {
	context := &corev1.PodSecurityContext{
		RunAsNonRoot:   ptr.To(true),
		RunAsUser:      ptr.To[int64](memcachedUser),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if port := memcached.Spec.ContainerPort; port < firstUnprivilegedPort {
		context.Sysctls = []corev1.Sysctl{{Name: "net.ipv4.ip_unprivileged_port_start", Value: fmt.Sprint(port)}}
	}
	return context
}

func containerFor(memcached *cachev1alpha1.Memcached) corev1.Container {
	port := memcached.Spec.ContainerPort
	command := []string{"memcached", "--memory-limit=64", "-o", "modern", "-v"}
	if port != defaultPort {
		command = append(command, fmt.Sprintf("--port=%d", port))
	}
	connects := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString(memcachedName)}}
	return corev1.Container{
		Name:            memcachedName,
		Image:           imageFor(memcached),
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         command,
		Ports: []corev1.ContainerPort{{
			Name:          memcachedName,
			ContainerPort: port,
			Protocol:      corev1.ProtocolTCP,
		}},
		// Thresholds that are the API server's defaults are written out: left at 0, they would count as changed.
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:     connects,
			PeriodSeconds:    1,
			TimeoutSeconds:   1,
			SuccessThreshold: 1,
			FailureThreshold: 3,
		},
		LivenessProbe: &corev1.Probe{
			ProbeHandler:     connects,
			PeriodSeconds:    10,
			TimeoutSeconds:   5,
			SuccessThreshold: 1,
			FailureThreshold: 6,
		},
		Resources: resourcesFor(memcached),
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			ReadOnlyRootFilesystem:   ptr.To(true),
			RunAsNonRoot:             ptr.To(true),
			RunAsUser:                ptr.To[int64](memcachedUser),
		},
	}
}

func resourcesFor(memcached *cachev1alpha1.Memcached) corev1.ResourceRequirements {
	if memcached.Spec.Resources != nil {
		return *memcached.Spec.Resources
	}
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("50m"),
			corev1.ResourceMemory: resource.MustParse("128Mi"),
		},
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("160Mi")},
	}
}

// serviceFor is the Service without an address of its own by which the instances are found.
func (r *MemcachedReconciler) serviceFor(memcached *cachev1alpha1.Memcached) (*corev1.Service, error) {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name:      memcached.Name,
			Namespace: memcached.Namespace,
			Labels:    labelsFor(memcached.Name),
		},
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			PublishNotReadyAddresses: true,
			Selector:                 selectorFor(memcached.Name),
			Ports: []corev1.ServicePort{{
				Name:       memcachedName,
				Port:       memcached.Spec.ContainerPort,
				Protocol:   corev1.ProtocolTCP,
				TargetPort: intstr.FromString(memcachedName),
			}},
		},
	}
	if err := ctrl.SetControllerReference(memcached, service, r.Scheme); err != nil {
		return nil, err
	}
	return service, nil
}
