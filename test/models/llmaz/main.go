// Runs the controllers and webhooks of llmaz. Its own program has a fixed port, a fixed folder for certificates, and
// listens on every address; this one does what it is told, and listens on loopback alone.
package main

import (
	"flag"
	"os"

	core "github.com/inftyai/llmaz/api/core/v1alpha1"
	inference "github.com/inftyai/llmaz/api/inference/v1alpha1"
	corecontroller "github.com/inftyai/llmaz/pkg/controller/core"
	inferencecontroller "github.com/inftyai/llmaz/pkg/controller/inference"
	llmazwebhook "github.com/inftyai/llmaz/pkg/webhook"
	"k8s.io/apimachinery/pkg/runtime"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"
)

func main() {
	port := flag.Int("webhook-port", 0, "port of the webhooks")
	certificates := flag.String("webhook-cert-dir", "", "folder with tls.crt and tls.key")
	flag.Parse()
	ctrl.SetLogger(zap.New())

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{kubernetes.AddToScheme, core.AddToScheme, inference.AddToScheme, lws.AddToScheme} {
		must(add(scheme))
	}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:        scheme,
		Metrics:       metrics.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certificates}),
	})
	must(err)
	client := manager.GetClient()
	must((&corecontroller.ModelReconciler{Client: client, Scheme: scheme}).SetupWithManager(manager))
	must((&inferencecontroller.PlaygroundReconciler{Client: client, Scheme: scheme}).SetupWithManager(manager))
	must((&inferencecontroller.ServiceReconciler{Client: client, Scheme: scheme}).SetupWithManager(manager))
	must((&inferencecontroller.BackendRuntimeReconciler{Client: client, Scheme: scheme}).SetupWithManager(manager))
	must(llmazwebhook.SetupOpenModelWebhook(manager))
	must(llmazwebhook.SetupPlaygroundWebhook(manager))
	must(llmazwebhook.SetupServiceWebhook(manager))
	must(llmazwebhook.SetupBackendRuntimeWebhook(manager))
	must(manager.Start(ctrl.SetupSignalHandler()))
}

func must(err error) {
	if err != nil {
		ctrl.Log.Error(err, "llmaz cannot run")
		os.Exit(1)
	}
}
