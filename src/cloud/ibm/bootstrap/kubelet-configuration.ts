/** The kubelet's own configuration file. Labels are not part of it: they are a flag. */
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
    // The client certificate is renewed; nothing in a cluster approves serving certificates by itself, so none is asked for.
    rotateCertificates: true,
    // Pods end in good order when the machine is told to shut down, which is all the warning that spot machines get.
    shutdownGracePeriod: '30s',
    shutdownGracePeriodCriticalPods: '10s',
    maxPods: reservations.maxPods,
    kubeReserved: reservations.kubeReserved,
    systemReserved: reservations.systemReserved,
    evictionHard: reservations.evictionHard,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}
