/** Which labels a pool can require, and which only the autoscaler sets. */
import { cloudOfLabel } from './cloud-domains.ts';
import {
  CAPACITY_TYPES,
  KARPENTER_GROUP,
  LABEL_ARCH,
  LABEL_CAPACITY_TYPE,
  LABEL_HOSTNAME,
  LABEL_INSTANCE_TYPE,
  LABEL_NODE_POOL,
  LABEL_OS,
  LABEL_REGION,
  LABEL_WINDOWS_BUILD,
  LABEL_ZONE,
} from './labels.ts';

export interface LabelRules {
  /** Labels that every instance type defines. */
  readonly wellKnown: ReadonlySet<string>;
  /** Domains and subdomains whose labels pools cannot use, except well-known ones. */
  readonly restrictedDomains: ReadonlySet<string>;
  /** Labels that pools cannot use. */
  readonly restricted: ReadonlySet<string>;
  /** Labels with a fixed set of values. */
  readonly knownValues: Readonly<Record<string, readonly string[]>>;
}

/** The rules of every cloud. */
export const CORE_LABEL_RULES: LabelRules = {
  wellKnown: new Set([
    LABEL_NODE_POOL,
    LABEL_ZONE,
    LABEL_REGION,
    LABEL_INSTANCE_TYPE,
    LABEL_ARCH,
    LABEL_OS,
    LABEL_CAPACITY_TYPE,
    LABEL_WINDOWS_BUILD,
  ]),
  restrictedDomains: new Set([KARPENTER_GROUP]),
  restricted: new Set([LABEL_HOSTNAME]),
  knownValues: { [LABEL_CAPACITY_TYPE]: CAPACITY_TYPES },
};

/** Deprecated names of well-known labels. */
const ALIASES: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': LABEL_ZONE,
  'failure-domain.beta.kubernetes.io/region': LABEL_REGION,
  'beta.kubernetes.io/arch': LABEL_ARCH,
  'beta.kubernetes.io/os': LABEL_OS,
  'beta.kubernetes.io/instance-type': LABEL_INSTANCE_TYPE,
};

/** The current name of a label. */
export function normalizedLabel(key: string): string {
  return ALIASES[key] ?? key;
}

/** Adds the rules of a cloud: the labels that it sets on nodes, and its own domain. */
export function extendLabelRules(
  rules: LabelRules,
  { wellKnown = [], restrictedDomains = [] }: { wellKnown?: readonly string[]; restrictedDomains?: readonly string[] },
): LabelRules {
  return {
    ...rules,
    wellKnown: new Set([...rules.wellKnown, ...wellKnown]),
    restrictedDomains: new Set([...rules.restrictedDomains, ...restrictedDomains]),
  };
}

/** Why a pool cannot use a label; undefined when it can. */
export function restrictionOf(key: string, rules: LabelRules): string | undefined {
  if (rules.wellKnown.has(key)) return undefined;
  if (rules.restricted.has(key)) return `${key} is only known once the node exists`;
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  for (const restricted of rules.restrictedDomains) {
    if (domain !== restricted && !domain.endsWith(`.${restricted}`)) continue;
    const allowed = [...rules.wellKnown].filter((known) => known !== LABEL_NODE_POOL && known.includes(restricted));
    return `labels of the domain ${restricted} are set by the autoscaler; pools can only use ${allowed.sort().join(', ')}`;
  }
  return undefined;
}

/**
 * Why no node of the pool can have a label: it belongs to another cloud. The text continues after the label. `ownDomain` is
 * the API group of the pool's node class.
 */
export function foreignLabel(key: string, ownDomain: string, rules: LabelRules): string | undefined {
  const owner = cloudOfLabel(key);
  if (owner === undefined || owner.domain === ownDomain) return undefined;
  const same = `${ownDomain}${key.slice(key.indexOf('/'))}`;
  const instead = rules.wellKnown.has(same) ? `write ${same}` : 'leave it out';
  return `is a label of ${owner.cloud}, which nodes of ${ownDomain} never have: ${instead}`;
}
