package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MemcachedSpec says what is wanted. Defaults and bounds are those of the installed definition.
type MemcachedSpec struct {
	// Size is the number of memcached instances.
	// +optional
	Size *int32 `json:"size,omitempty"`

	// ContainerPort is the port that memcached serves on.
	// +optional
	ContainerPort int32 `json:"containerPort,omitempty"`

	// Image is what the instances run; the operator's own choice where it is absent.
	// +optional
	Image *string `json:"image,omitempty"`

	// Resources is what each instance may use.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}

// MemcachedStatus says what is known.
type MemcachedStatus struct {
	// Replicas is the number of pods.
	// +optional
	Replicas int32 `json:"replicas"`

	// ReadyReplicas is the number of pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// Selector selects the pods, for autoscalers.
	// +optional
	Selector string `json:"selector,omitempty"`

	// Image is what the instances run.
	// +optional
	Image string `json:"image,omitempty"`

	// ObservedGeneration is the generation of the spec that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions are Available and, while the object is being deleted, Degraded.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Memcached is a number of memcached instances.
type Memcached struct {
	metav1.TypeMeta `json:",inline"`

	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +required
	Spec MemcachedSpec `json:"spec"`

	// +optional
	Status MemcachedStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// MemcachedList is a list of them.
type MemcachedList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Memcached `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Memcached{}, &MemcachedList{})
}
