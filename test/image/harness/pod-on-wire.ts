/** What a kubelet reads of a pod, as far as our chart uses it. */
export interface PodOnWire {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly hostNetwork?: boolean;
    readonly securityContext?: SecurityContext & { readonly fsGroup?: number };
    readonly containers: readonly [ContainerOnWire];
    readonly volumes?: readonly VolumeOnWire[];
  };
}

export interface ContainerOnWire {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvironmentVariable[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly securityContext?: SecurityContext;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
  };
}

export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string | number };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly failureThreshold?: number;
}

export interface SecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  readonly seccompProfile?: { readonly type: string };
}

export interface VolumeOnWire {
  readonly name: string;
  readonly emptyDir?: object;
  readonly configMap?: { readonly name: string };
  readonly secret?: { readonly secretName: string };
  readonly projected?: { readonly sources: readonly { readonly serviceAccountToken?: { readonly path: string } }[] };
}
