import { labelKeyProblems, labelValueProblems } from '../../../../apis/kubernetes/label-syntax.ts';
import type { Node, Taint } from '../../../../apis/kubernetes/node.ts';
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../schema/field-error.ts';
import type { KindRules } from '../kind.ts';

const NOT_READY: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** A node may be created with its status. Its provider ID cannot change once set. */
export const nodeRules: KindRules = {
  keepsStatusOnCreate: true,
  prepareCreate: (object, context) => {
    const taints = (object.spec?.taints as readonly Taint[] | undefined) ?? [];
    if (!context.taintsNewNodes || taints.some(({ key }) => key === NOT_READY.key)) return object;
    return { ...object, spec: { ...object.spec, taints: [...taints, NOT_READY] } };
  },
  prepareUpdate: (object, old) => {
    // An update that leaves these fields out keeps their values.
    const kept = ['podCIDR', 'podCIDRs', 'providerID'].filter(
      (field) => object.spec?.[field] === undefined && old.spec?.[field] !== undefined,
    );
    if (kept.length === 0) return object;
    return {
      ...object,
      spec: { ...object.spec, ...Object.fromEntries(kept.map((field) => [field, old.spec?.[field]])) },
    };
  },
  validate: (object, old) => {
    const node = object as unknown as Node;
    const before = old as unknown as Node | undefined;
    const errors = validateTaints(node.spec?.taints ?? []);
    const id = before?.spec?.providerID ?? '';
    if (id !== '' && node.spec?.providerID !== id) {
      errors.push(forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'));
    }
    return errors;
  },
};

function validateTaints(taints: readonly Taint[]): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const field = `metadata.taints[${index}]`;
    const errors = labelKeyProblems(taint.key ?? '').map((problem) =>
      invalid(`${field}.key`, taint.key ?? '', problem),
    );
    errors.push(
      ...labelValueProblems(taint.value ?? '').map((problem) => invalid(`${field}.value`, taint.value ?? '', problem)),
    );
    if (((taint.effect as string | undefined) ?? '') === '') errors.push(required(`${field}.effect`));
    else if (!EFFECTS.includes(taint.effect)) errors.push(notSupported(`${field}.effect`, taint.effect, EFFECTS));
    const identity = `${taint.key}:${taint.effect}`;
    if (seen.has(identity)) errors.push(duplicate(field, taint as never));
    seen.add(identity);
    return errors;
  });
}
