// Package controller brings the cluster to what Memcached objects ask for.
package controller

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	cachev1alpha1 "example.com/memcached-peer/api/v1alpha1"
)

const (
	// The one that memcached-operator has, so that either may finish what the other began.
	memcachedFinalizer = "cache.example.com/memcached-operator"

	typeAvailable = "Available"
	typeDegraded  = "Degraded"
)

// MemcachedReconciler reconciles Memcached objects.
type MemcachedReconciler struct {
	client.Client
	Scheme                  *runtime.Scheme
	Recorder                events.EventRecorder
	MaxConcurrentReconciles int
}

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;list;watch;create;update;patch;delete

// Reconcile makes one step towards what the object asks for: it ends after the creation or the change of
// a child, and writes the status once both children are as they should be.
func (r *MemcachedReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	memcached := &cachev1alpha1.Memcached{}
	if err := r.Get(ctx, req.NamespacedName, memcached); err != nil {
		// Gone: its children go by their owner references.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	if !memcached.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.finalize(ctx, memcached)
	}

	// Not needed where the definition has a default for the conditions.
	if len(memcached.Status.Conditions) == 0 {
		meta.SetStatusCondition(&memcached.Status.Conditions, metav1.Condition{
			Type: typeAvailable, Status: metav1.ConditionUnknown, Reason: "Reconciling", Message: "Starting reconciliation",
		})
		if err := r.Status().Update(ctx, memcached); err != nil {
			return ctrl.Result{}, err
		}
		if err := r.Get(ctx, req.NamespacedName, memcached); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
	}

	if controllerutil.AddFinalizer(memcached, memcachedFinalizer) {
		if err := r.Update(ctx, memcached); err != nil {
			return ctrl.Result{}, err
		}
	}

	deployment := &appsv1.Deployment{}
	wantedDeployment, err := r.deploymentFor(memcached)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Get(ctx, req.NamespacedName, deployment); apierrors.IsNotFound(err) {
		log.Info("Creating the Deployment")
		return afterWrite(r.Create(ctx, wantedDeployment))
	} else if err != nil {
		return ctrl.Result{}, err
	}
	if differs(wantedDeployment, deployment, wantedDeployment.Spec, deployment.Spec) {
		log.Info("Updating the Deployment")
		deployment.Labels = labels.Merge(deployment.Labels, wantedDeployment.Labels)
		deployment.Spec = wantedDeployment.Spec
		return afterWrite(r.Update(ctx, deployment))
	}

	service := &corev1.Service{}
	wantedService, err := r.serviceFor(memcached)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Get(ctx, req.NamespacedName, service); apierrors.IsNotFound(err) {
		log.Info("Creating the Service")
		return afterWrite(r.Create(ctx, wantedService))
	} else if err != nil {
		return ctrl.Result{}, err
	}
	if differs(wantedService, service, wantedService.Spec, service.Spec) {
		log.Info("Updating the Service")
		service.Labels = labels.Merge(service.Labels, wantedService.Labels)
		// Field by field: what the API server has allocated stays.
		service.Spec.Ports = wantedService.Spec.Ports
		service.Spec.Selector = wantedService.Spec.Selector
		service.Spec.PublishNotReadyAddresses = wantedService.Spec.PublishNotReadyAddresses
		return afterWrite(r.Update(ctx, service))
	}

	return ctrl.Result{}, r.updateStatus(ctx, memcached, deployment)
}

// afterWrite ends a pass that wrote a child. The event of that write brings the next pass, with a cache
// that has seen it; the minute is for the case that the event is lost.
func afterWrite(err error) (ctrl.Result, error) {
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: time.Minute}, nil
}

// differs tells whether a child lacks something that is wanted. What is not set in wanted may be anything:
// the API server's defaults, and what others added.
func differs(wanted, found client.Object, wantedSpec, foundSpec any) bool {
	return !equality.Semantic.DeepDerivative(wanted.GetLabels(), found.GetLabels()) ||
		!equality.Semantic.DeepDerivative(wantedSpec, foundSpec)
}

// updateStatus writes what is known, unless it is written already.
func (r *MemcachedReconciler) updateStatus(
	ctx context.Context, memcached *cachev1alpha1.Memcached, deployment *appsv1.Deployment,
) error {
	before := memcached.Status.DeepCopy()
	size, ready := ptr.Deref(deployment.Spec.Replicas, 1), deployment.Status.ReadyReplicas
	available := metav1.Condition{
		Type:               typeAvailable,
		Status:             metav1.ConditionFalse,
		Reason:             "NotReady",
		Message:            fmt.Sprintf("%d of %d instances are ready", ready, size),
		ObservedGeneration: memcached.Generation,
	}
	if ready >= size {
		available.Status, available.Reason = metav1.ConditionTrue, "AllReady"
	}
	status := &memcached.Status
	meta.SetStatusCondition(&status.Conditions, available)
	status.Replicas = deployment.Status.Replicas
	status.ReadyReplicas = ready
	status.Selector = labels.FormatLabels(selectorFor(memcached.Name))
	status.Image = imageFor(memcached)
	status.ObservedGeneration = memcached.Generation
	if equality.Semantic.DeepEqual(before, status) {
		return nil
	}
	return r.Status().Update(ctx, memcached)
}

// finalize says that the object goes, and lets it go. There is nothing to clean up: the children have an
// owner reference.
func (r *MemcachedReconciler) finalize(ctx context.Context, memcached *cachev1alpha1.Memcached) error {
	if !controllerutil.ContainsFinalizer(memcached, memcachedFinalizer) {
		return nil
	}
	message := fmt.Sprintf("Memcached %s is being deleted from the namespace %s", memcached.Name, memcached.Namespace)
	if meta.SetStatusCondition(&memcached.Status.Conditions, metav1.Condition{
		Type:               typeDegraded,
		Status:             metav1.ConditionTrue,
		Reason:             "Finalizing",
		Message:            message,
		ObservedGeneration: memcached.Generation,
	}) {
		if err := r.Status().Update(ctx, memcached); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	r.Recorder.Eventf(memcached, nil, corev1.EventTypeWarning, "Deleting", "Finalize", "%s", message)
	controllerutil.RemoveFinalizer(memcached, memcachedFinalizer)
	return client.IgnoreNotFound(r.Update(ctx, memcached))
}

// SetupWithManager registers the controller. Changes of metadata and status alone, which are mostly its
// own, start no pass.
func (r *MemcachedReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&cachev1alpha1.Memcached{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.MaxConcurrentReconciles}).
		Named("memcached").
		Complete(r)
}
