/** The kubelet's configuration file. Labels are not part of it: they are a flag. */
import type { JoinSettings } from './join-settings.ts';

/** KubeletConfiguration, kubelet.config.k8s.io/v1beta1. */
export function kubeletConfiguration({
  dns,
  taints,
  reservations,
  kubelet,
}: JoinSettings): Readonly<Record<string, unknown>> {
  const optional = {
    evictionSoft: kubelet.evictionSoft,
    evictionSoftGracePeriod: kubelet.evictionSoftGracePeriod,
    evictionMaxPodGracePeriod: kubelet.evictionMaxPodGracePeriod,
    imageGCHighThresholdPercent: kubelet.imageGCHighThresholdPercent,
    imageGCLowThresholdPercent: kubelet.imageGCLowThresholdPercent,
    cpuCFSQuota: kubelet.cpuCFSQuota,
  };
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
    },
    authorization: { mode: 'Webhook' },
    cgroupDriver: 'systemd',
    clusterDNS: dns,
    clusterDomain: 'cluster.local',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    registerWithTaints: taints,
    // The client certificate is renewed. Serving certificates are not requested, because nothing in a cluster approves them by itself.
    rotateCertificates: true,
    // Lets pods end gracefully when the machine shuts down, which is the only warning that spot machines get.
    shutdownGracePeriod: '30s',
    shutdownGracePeriodCriticalPods: '10s',
    maxPods: reservations.maxPods,
    kubeReserved: reservations.kubeReserved,
    systemReserved: reservations.systemReserved,
    evictionHard: reservations.evictionHard,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}
