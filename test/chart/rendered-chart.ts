/** The chart as Helm renders it, and values to render it with. */
import { spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import { findHelm } from '../peers/helm.ts';
import { CHART } from './chart-files.ts';

export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: object };
  // Whatever the kind has: the tests below look into it where they need to.
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

/** Without which the chart is refused. */
export const NEEDED = ['settings.clusterName=demo', 'controller.image.repository=registry.example/spindrift'];

/** Runs `helm template` with values as `--set` takes them. */
export function template(...values: string[]): Answer {
  const sets = [...NEEDED, ...values].flatMap((value) => ['--set', value]);
  // The version that a Helm built from source takes a cluster for is years old.
  return helm('template', 'spindrift', CHART, '--namespace', 'autoscaling', '--kube-version', '1.34.0', ...sets);
}

/** The objects of the chart with these values; throws what Helm or the YAML is wrong about. */
export function rendered(...values: string[]): Rendered[] {
  const { code, out, err } = template(...values);
  if (code !== 0 || err !== '') throw new Error(err);
  return objectsIn(out);
}

/** The objects of several YAML documents; throws where a key is there twice. */
export function objectsIn(text: string): Rendered[] {
  const documents = parseAllDocuments(text, { uniqueKeys: true });
  for (const { errors } of documents) if (errors[0] !== undefined) throw errors[0];
  return documents.map((document) => document.toJS() as Rendered | null).filter((each) => each !== null);
}

/** Values that between them turn on everything, by what they are for. */
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
  'cluster-api': ['clouds={cluster-api}'],
  'cluster-api without a provider': ['clouds={cluster-api}', 'clusterApi.machines={aws,azure}'],
  'cluster-api elsewhere': ['clouds={cluster-api}', 'clusterApi.kubeconfigSecret.name=management'],
  gcp: ['clouds={gcp}', 'gcp.project=p', 'gcp.region=europe-west1'],
  azure: ['clouds={azure}', 'azure.subscription=s', 'azure.resourceGroup=g', 'azure.location=westeurope'],
  'several clouds': ['clouds={simulated,aws,gcp}', 'gcp.project=p', 'gcp.region=r', 'settings.installDefinitions=true'],
  'everything on': [
    ...['clouds={aws}', 'agent.enabled=true', 'agent.taint=true', 'serviceMonitor.enabled=true'],
    ...['prometheusRule.enabled=true', 'dashboards.enabled=true', 'dashboards.annotations.grafana_folder=Spindrift'],
    ...['networkPolicy.enabled=true', 'additionalLabels.team=platform', 'additionalAnnotations.note=yes'],
    ...['controller.metrics.authentication=true', 'controller.metrics.tlsSecret=metrics', 'controller.profiling=true'],
    ...['settings.interruptionConditions={A=spot,B}', 'controller.extraArgs={--kube-client-qps=7}'],
  ],
  'everything off': [
    ...['clouds={aws}', 'affinity=null', 'topologySpreadConstraints=null', 'tolerations=null', 'nodeSelector=null'],
    ...['replicas=1', 'settings.leaderElection.enabled=false', 'serviceAccount.create=false'],
  ],
};
