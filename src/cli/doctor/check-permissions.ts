/** Permissions: an access review for each right that the controller needs. */
import {
  type AccessReview,
  type ResourceAttributes,
  SELF_SUBJECT_ACCESS_REVIEWS,
  SUBJECT_ACCESS_REVIEWS,
} from '../../apis/kubernetes/resource-access.ts';
import { neededRights } from '../../app/needed-rights.ts';
import { hasCode } from '../../platform/errors.ts';
import type { Finding } from './finding.ts';
import type { Check, Ground } from './ground.ts';

const AT_ONCE = 16;

export const checkPermissions: Check = async (ground) => {
  const rights = neededRights({ ...ground, clouds: ground.clouds.map(({ name }) => name) });
  const missing: ResourceAttributes[] = [];
  try {
    for (let index = 0; index < rights.length; index += AT_ONCE) {
      const some = rights.slice(index, index + AT_ONCE);
      const answers = await Promise.all(some.map((right) => isAllowed(right, ground)));
      missing.push(...some.filter((_, at) => !answers[at]));
    }
  } catch (error) {
    if (!hasCode(error, 'KUBE_FORBIDDEN')) throw error;
    const text = `permissions cannot be checked: ${error.message}`;
    return [{ check: 'permissions', status: 'skipped', text }];
  }
  const who = ground.serviceAccount === undefined ? 'this user' : `service account ${keyOf(ground.serviceAccount)}`;
  if (missing.length === 0)
    return [
      { check: 'permissions', status: 'ok', text: `${who} has all ${rights.length} rights that the controller needs` },
    ];
  return grouped(missing).map(({ what, verbs }): Finding => {
    const todo = `grant it in a role: helm upgrade the chart with clouds={${ground.clouds.map(({ name }) => name).join(',')}}, or additionalClusterRoleRules`;
    return { check: 'permissions', status: 'failed', text: `${who} may not ${verbs.join(', ')} ${what}`, todo };
  });
};

async function isAllowed(resourceAttributes: ResourceAttributes, ground: Ground): Promise<boolean> {
  const { client, serviceAccount, signal } = ground;
  const kind = serviceAccount === undefined ? SELF_SUBJECT_ACCESS_REVIEWS : SUBJECT_ACCESS_REVIEWS;
  const subject =
    serviceAccount === undefined
      ? {}
      : {
          user: `system:serviceaccount:${serviceAccount.namespace}:${serviceAccount.name}`,
          groups: [
            'system:serviceaccounts',
            `system:serviceaccounts:${serviceAccount.namespace}`,
            'system:authenticated',
          ],
        };
  const review: AccessReview = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: kind.kind,
    metadata: {},
    spec: { resourceAttributes, ...subject },
  };
  return (await client.create(kind, review, { signal })).status?.allowed === true;
}

/** Groups the verbs of one resource. */
function grouped(rights: readonly ResourceAttributes[]): { readonly what: string; readonly verbs: string[] }[] {
  const byThing = new Map<string, string[]>();
  for (const { group, resource, subresource, namespace, name, verb } of rights) {
    const kind = `${resource}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
    const what = `${kind}${name === undefined ? '' : ` ${name}`}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
    byThing.set(what, [...(byThing.get(what) ?? []), verb]);
  }
  return [...byThing].map(([what, verbs]) => ({ what, verbs }));
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
