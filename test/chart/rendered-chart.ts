/** The chart as Helm renders it, and values to render it with. */
import { spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import { findHelm } from '../peers/helm.ts';
import { CHART } from './chart-files.ts';

export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: object };
  // Depends on the kind; tests inspect it as needed.
  readonly [field: string]: unknown;
}

export interface Answer {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export function helm(...args: string[]): Answer {
  const { status, stdout, stderr } = spawnSync(findHelm() ?? 'helm', args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  return { code: status, out: stdout, err: stderr };
}

/** Required values. */
export const NEEDED = ['settings.clusterName=demo', 'controller.image.repository=registry.example/spindrift'];

/** Runs `helm template` with values in `--set` syntax. */
export function template(...values: string[]): Answer {
  const sets = [...NEEDED, ...values].flatMap((value) => ['--set', value]);
  // A Helm built from source assumes a cluster version that is years old.
  return helm('template', 'spindrift', CHART, '--namespace', 'autoscaling', '--kube-version', '1.34.0', ...sets);
}

/** The objects of the chart with these values; throws errors of Helm or YAML. */
export function rendered(...values: string[]): Rendered[] {
  const { code, out, err } = template(...values);
  if (code !== 0 || err !== '') throw new Error(err);
  return objectsIn(out);
}

/** The objects of several YAML documents; throws if a key is repeated. */
export function objectsIn(text: string): Rendered[] {
  const documents = parseAllDocuments(text, { uniqueKeys: true });
  for (const { errors } of documents) if (errors[0] !== undefined) throw errors[0];
  return documents.map((document) => document.toJS() as Rendered | null).filter((each) => each !== null);
}

/** Sets of values, by purpose, that together enable everything. */
export const MATRIX: Record<string, string[]> = {
  aws: [
    'clouds={aws}',
    'aws.region=eu-west-1',
    'settings.interruptionQueue=demo',
    'settings.isolatedVPC=true',
    'settings.gpuNames=kube-public/gpus',
  ],
  ibm: ['clouds={ibm}', 'ibm.authType=container', 'ibm.events.port=9000', 'ibm.events.tokenSecret.name=events'],
  'ibm with a key': ['clouds={ibm}', 'ibm.apiKeySecret.name=ibm', 'ibm.spotPricePercentOf.bxf=40'],
  'cluster-api': ['clouds={cluster-api}', 'clusterApi.controlPlanePolicies={aws,gcp,azure}'],
  'cluster-api without a provider': ['clouds={cluster-api}', 'clusterApi.machines={aws,azure}'],
  'cluster-api elsewhere': ['clouds={cluster-api}', 'clusterApi.kubeconfigSecret.name=management'],
  gcp: ['clouds={gcp}', 'gcp.project=p', 'gcp.region=europe-west1'],
  azure: ['clouds={azure}', 'azure.subscription=s', 'azure.resourceGroup=g', 'azure.location=westeurope'],
  'several clouds': ['clouds={simulated,aws,gcp}', 'gcp.project=p', 'gcp.region=r', 'settings.installDefinitions=true'],
  'everything on': [
    ...['clouds={aws}', 'agent.enabled=true', 'agent.taint=true', 'serviceMonitor.enabled=true'],
    ...['prometheusRule.enabled=true', 'dashboards.enabled=true', 'dashboards.annotations.grafana_folder=Spindrift'],
    ...[
      'settings.readyReplicas=true',
      'settings.podDeletionCost=true',
      'networkPolicy.enabled=true',
      'additionalLabels.team=platform',
      'additionalAnnotations.note=yes',
    ],
    ...['controller.metrics.authentication=true', 'controller.metrics.tlsSecret=metrics', 'controller.profiling=true'],
    ...['settings.interruptionConditions={A=spot,B}', 'controller.extraArgs={--kube-client-qps=7}'],
  ],
  'every extra': [
    'clouds={aws}',
    'agent.enabled=true',
    'agent.taint=true',
    'agent.podLabels.a=b',
    'agent.podAnnotations.a=b',
    'agent.env[0].name=A',
    'controller.env[0].name=A',
    'controller.envFrom[0].secretRef.name=more',
    'podLabels.a=b',
    'podAnnotations.a=b',
    'initContainers[0].name=first',
    'initContainers[0].image=first:1',
    'imagePullSecrets[0].name=pull',
    'controller.sidecarContainer[0].name=side',
    'controller.sidecarContainer[0].image=side:1',
    'extraVolumes[0].name=own',
    'extraVolumes[0].emptyDir.medium=Memory',
    'controller.extraVolumeMounts[0].name=own',
    'controller.extraVolumeMounts[0].mountPath=/own',
    'dnsConfig.options[0].name=ndots',
    'schedulerName=own',
    'hostNetwork=true',
    'service.annotations.a=b',
    'networkPolicy.enabled=true',
    'networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus',
    'networkPolicy.egress[0].ports[0].port=443',
    'podDisruptionBudget.maxUnavailable=50%',
    'podDisruptionBudget.name=own',
    'serviceMonitor.enabled=true',
    'serviceMonitor.endpointConfig.interval=30s',
    'serviceMonitor.additionalLabels.a=b',
    'serviceMonitor.relabelings[0].action=labeldrop',
    'serviceMonitor.relabelings[0].regex=pod',
    'serviceMonitor.metricRelabelings[0].action=drop',
    'serviceMonitor.metricRelabelings[0].regex=x',
    'prometheusRule.enabled=true',
    'prometheusRule.ruleLabels.team=platform',
    'prometheusRule.disabled={SpindriftCostJump}',
    'prometheusRule.runbookURL=https://git.example/runbooks',
    'dashboards.enabled=true',
    'dashboards.namespace=kube-system',
  ],
  'everything off': [
    ...['clouds={aws}', 'affinity=null', 'topologySpreadConstraints=null', 'tolerations=null', 'nodeSelector=null'],
    ...['replicas=1', 'settings.leaderElection.enabled=false', 'serviceAccount.create=false'],
  ],
};
