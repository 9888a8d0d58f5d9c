/**
 * The script that turns a new machine into a node. It needs the internet only if the image lacks a kubelet or container runtime; a
 * pre-baked image joins without. Every step can be repeated.
 */
import type { JoinSettings } from './join-settings.ts';

/** The directory of the script and its files. */
export const JOIN_DIRECTORY = '/usr/local/lib/spindrift';

/** The script. Tests set `SPINDRIFT_ROOT` and `SPINDRIFT_METADATA` to run it elsewhere. */
export function joinScript({ nodeName, region, labels, kubernetesMinor }: JoinSettings): string {
  const nodeLabels = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',');
  return `#!/bin/bash
# Makes this machine a node of the cluster.
set -euo pipefail
ROOT="\${SPINDRIFT_ROOT:-}"
METADATA="\${SPINDRIFT_METADATA:-http://169.254.169.254}"
log() { echo "spindrift: $*"; }

# The metadata service is asked by its address: there may be no DNS yet.
for try in 1 2 3 4 5 6 7 8 9 10; do
  TOKEN=$(curl -sf -m 5 -X PUT "$METADATA/instance_identity/v1/token?version=2022-03-29" \\
    -H 'Metadata-Flavor: ibm' -H 'Content-Type: application/json' -d '{"expires_in":300}' \\
    | sed -n 's/.*"access_token" *: *"\\([^"]*\\)".*/\\1/p') && [ -n "$TOKEN" ] && break
  log "the metadata service does not answer yet ($try)"; sleep 3
done
INSTANCE=$(curl -sf -m 5 "$METADATA/metadata/v1/instance?version=2022-03-29" -H "Authorization: Bearer $TOKEN")
INSTANCE_ID=$(printf '%s' "$INSTANCE" | tr -d '\\n' | sed -n 's/^{ *"id" *: *"\\([^"]*\\)".*/\\1/p')
[ -n "$INSTANCE_ID" ] || INSTANCE_ID=$(printf '%s' "$INSTANCE" | tr ',{' '\\n\\n' | sed -n 's/^ *"id" *: *"\\([0-9a-z]\\{4\\}_[^"]*\\)".*/\\1/p' | head -n 1)
[ -n "$INSTANCE_ID" ] || { log "the metadata service did not say which instance this is"; exit 1; }
NODE_IP=$(ip -4 route get 169.254.169.254 2>/dev/null | sed -n 's/.* src \\([0-9.]*\\).*/\\1/p' | head -n 1)

hostnamectl set-hostname ${quote(nodeName)}
swapoff -a
sed -i '/\\sswap\\s/d' "$ROOT/etc/fstab"
modprobe overlay
modprobe br_netfilter
sysctl --system > /dev/null

if ! command -v containerd > /dev/null || ! command -v kubelet > /dev/null; then
  log "installing containerd and kubelet ${kubernetesMinor}"
  command -v apt-get > /dev/null || { log "this image has no kubelet, and only Debian and Ubuntu can be given one: bake it into the image"; exit 1; }
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q
  apt-get install -qy apt-transport-https ca-certificates curl gpg containerd
  mkdir -p "$ROOT/etc/apt/keyrings"
  curl -fsSL https://pkgs.k8s.io/core:/stable:/v${kubernetesMinor}/deb/Release.key | gpg --dearmor --yes -o "$ROOT/etc/apt/keyrings/kubernetes.gpg"
  echo "deb [signed-by=/etc/apt/keyrings/kubernetes.gpg] https://pkgs.k8s.io/core:/stable:/v${kubernetesMinor}/deb/ /" > "$ROOT/etc/apt/sources.list.d/kubernetes.list"
  apt-get update -q
  apt-get install -qy kubelet kubernetes-cni
fi
if [ ! -s "$ROOT/etc/containerd/config.toml" ] || ! grep -q 'SystemdCgroup = true' "$ROOT/etc/containerd/config.toml"; then
  mkdir -p "$ROOT/etc/containerd"
  containerd config default | sed 's/SystemdCgroup = false/SystemdCgroup = true/' > "$ROOT/etc/containerd/config.toml"
fi

cat > "$ROOT/etc/default/spindrift-kubelet" <<EOF
SPINDRIFT_KUBELET_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf --config=/etc/kubernetes/kubelet-config.json --cert-dir=/var/lib/kubelet/pki --hostname-override=${nodeName} --provider-id=ibm:///${region}/$INSTANCE_ID \${NODE_IP:+--node-ip=$NODE_IP} --node-labels=${nodeLabels}
EOF
systemctl daemon-reload
systemctl enable --now containerd
systemctl restart containerd
systemctl enable kubelet
systemctl restart kubelet
log "kubelet started as ${nodeName}"
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
