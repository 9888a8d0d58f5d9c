/** Admission: policies and webhooks admit what the controller writes, and every webhook that can block it has endpoints. */
import { NODE_CLAIMS, type NodeClaim } from '../../apis/karpenter/node-claim.ts';
import {
  ENDPOINT_SLICES,
  LABEL_SERVICE_NAME,
  MUTATING_WEBHOOKS,
  VALIDATING_POLICIES,
  VALIDATING_WEBHOOKS,
  type Webhook,
} from '../../apis/kubernetes/admission.ts';
import { DAEMON_SETS } from '../../apis/kubernetes/workloads.ts';
import { isAgent } from '../../controllers/nodepool/decide-signals.ts';
import { asError, hasCode, type SpindriftError } from '../../platform/errors.ts';
import type { Finding } from './finding.ts';
import type { Check, Ground } from './ground.ts';
import { looksAtOurs } from './looks-at-ours.ts';
import { whereAllowed } from './where-allowed.ts';

export const checkAdmission: Check = async (ground) => {
  const findings = [
    ...(await tryClaim(ground)),
    ...(await lookAtWebhooks(ground)),
    ...(await lookAtAgentPolicy(ground)),
  ];
  if (findings.some(({ status }) => status !== 'skipped')) return findings;
  return [
    { check: 'admission', status: 'ok', text: 'a NodeClaim is admitted, and no webhook blocks writes' },
    ...findings,
  ];
};

/** Creates a claim as a dry run: every policy and webhook judges it. */
async function tryClaim({ client, clouds, signal }: Ground): Promise<Finding[]> {
  const [cloud] = clouds;
  if (cloud === undefined) return [];
  const { group, kind } = cloud.nodeClass.resource;
  const claim: NodeClaim = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'spindrift-doctor', labels: { 'karpenter.sh/nodepool': 'spindrift-doctor' } },
    spec: { nodeClassRef: { group, kind, name: 'spindrift-doctor' }, requirements: [], expireAfter: 'Never' },
  };
  try {
    await client.create(NODE_CLAIMS, claim, { dryRun: true, signal });
    return [];
  } catch (error) {
    signal.throwIfAborted();
    if (hasCode(error, 'KUBE_NOT_FOUND')) return [];
    if (isForbidden(error) && !/admission|denied the request|policy/i.test(error.message))
      return [
        {
          check: 'admission',
          status: 'skipped',
          text: 'admission cannot be tried: this user may not create NodeClaims',
        },
      ];
    const text = `a NodeClaim is refused: ${asError(error).message}`;
    const todo = 'exclude the service account of Spindrift from the policy or webhook that the message names';
    return [{ check: 'admission', status: 'failed', text, todo }];
  }
}

function isForbidden(error: unknown): error is SpindriftError {
  return hasCode(error, 'KUBE_FORBIDDEN');
}

async function lookAtWebhooks({ client, signal }: Ground): Promise<Finding[]> {
  const lists = [
    await whereAllowed(() => client.list(VALIDATING_WEBHOOKS, {}, { signal })),
    await whereAllowed(() => client.list(MUTATING_WEBHOOKS, {}, { signal })),
  ];
  if (lists.some((list) => list === undefined))
    return [{ check: 'admission', status: 'skipped', text: 'webhooks cannot be read: this user may not list them' }];
  const webhooks = lists.flatMap((list) => list?.items ?? []).flatMap((one) => one.webhooks ?? []);
  const findings: Finding[] = [];
  for (const webhook of webhooks) {
    const { service } = webhook.clientConfig;
    if (!canBlock(webhook) || service === undefined) continue;
    const labelSelector = `${LABEL_SERVICE_NAME}=${service.name}`;
    const { namespace } = service;
    const slices = await whereAllowed(() => client.list(ENDPOINT_SLICES, { namespace, labelSelector }, { signal }));
    if (slices === undefined) continue;
    const ready = slices.items.some(({ endpoints }) =>
      endpoints?.some(({ conditions }) => conditions?.ready !== false),
    );
    if (ready) continue;
    const text = `webhook ${webhook.name} must admit writes of ${looksAtOurs(webhook).join(', ')}, but its service ${namespace}/${service.name} has no ready endpoints`;
    const todo = 'start the pods of the webhook, delete its configuration, or set its failurePolicy to Ignore';
    findings.push({ check: 'admission', status: 'failed', text, todo });
  }
  return findings;
}

function canBlock(webhook: Webhook): boolean {
  return (webhook.failurePolicy ?? 'Fail') === 'Fail' && looksAtOurs(webhook).length > 0;
}

/** RBAC cannot limit an agent to its own Node; the policy of the chart can. */
async function lookAtAgentPolicy({ client, signal }: Ground): Promise<Finding[]> {
  const daemonSets = await whereAllowed(() => client.list(DAEMON_SETS, {}, { signal }));
  const agent = daemonSets?.items.find((each) => isAgent(each) && each.metadata.name?.includes('spindrift') === true);
  if (agent === undefined) return [];
  const policies = await whereAllowed(() => client.list(VALIDATING_POLICIES, {}, { signal }));
  if (policies === undefined || policies.items.some(({ metadata }) => metadata.name?.endsWith('-own-node') === true))
    return [];
  const text = 'agents run without the policy that lets each write its own Node only';
  const todo = 'set agent.admissionPolicy in the chart, or apply examples/agent/agent.yaml (Kubernetes 1.32)';
  return [{ check: 'admission', status: 'warning', text, todo }];
}
