/** LimitRange: defaults that follow from its bounds, and checks that the bounds agree. */
import { type LimitRange, type LimitRangeItem, withImpliedDefaults } from '../../../../apis/kubernetes/limit-range.ts';
import type { ResourceList } from '../../../../apis/kubernetes/pod.ts';
import { compareQuantities, formatQuantity, parseQuantity } from '../../../../apis/kubernetes/quantity.ts';
import { duplicate, type FieldError, forbidden, invalid, required } from '../../schema/field-error.ts';
import type { Draft, KindRules } from '../kind.ts';

export const limitRangeRules: KindRules = {
  defaults: (object) => {
    const { spec } = object as unknown as LimitRange;
    if (!Array.isArray(spec?.limits)) return object;
    return { ...object, spec: { ...spec, limits: spec.limits.map(withImpliedDefaults) } } as unknown as Draft;
  },
  validate: (object) => {
    const { spec } = object as unknown as LimitRange;
    const seen = new Set<string>();
    return (spec?.limits ?? []).flatMap((item, index) => {
      const field = `spec.limits[${index}]`;
      const errors = seen.has(item.type) ? [duplicate(`${field}.type`, item.type)] : [];
      seen.add(item.type);
      return [...errors, ...typeErrors(item, field), ...orderErrors(item, field)];
    });
  },
};

function typeErrors(item: LimitRangeItem, field: string): FieldError[] {
  if (item.type === 'Pod') {
    const why = "may not be specified when `type` is 'Pod'";
    return (['default', 'defaultRequest'] as const)
      .filter((name) => Object.keys(item[name] ?? {}).length > 0)
      .map((name) => forbidden(`${field}.${name}`, why));
  }
  const { min, max } = item;
  if (item.type !== 'PersistentVolumeClaim' || min?.storage !== undefined || max?.storage !== undefined) return [];
  return [required(`${field}.limits`, 'either minimum or maximum storage value is required, but neither was provided')];
}

/** Each bound must not exceed the bounds after it. */
const IN_ORDER = [
  ['min', 'min'],
  ['defaultRequest', 'default request'],
  ['default', 'default'],
  ['max', 'max'],
] as const;

function orderErrors(item: LimitRangeItem, field: string): FieldError[] {
  return IN_ORDER.flatMap(([low, lowWord], index) =>
    IN_ORDER.slice(index + 1).flatMap(([high, highWord]) =>
      // Reports the field at fault: if `min` exceeds a default, the default; otherwise the field that should be lower.
      tooHigh(item[low], item[high]).map((name) => {
        const written = low === 'min' && high !== 'max' ? high : low;
        const between = low === 'defaultRequest' && high === 'default' ? 'default limit' : highWord;
        const detail = `${lowWord} value ${text(item[low]?.[name])} is greater than ${between} value ${text(item[high]?.[name])}`;
        return invalid(`${field}.${written}[${name}]`, text(item[written]?.[name]), detail);
      }),
    ),
  );
}

function tooHigh(low: ResourceList = {}, high: ResourceList = {}): string[] {
  return Object.keys(low).filter((name) => {
    const least = low[name];
    const most = high[name];
    return (
      least !== undefined && most !== undefined && compareQuantities(parseQuantity(least), parseQuantity(most)) > 0
    );
  });
}

function text(quantity: string | undefined): string {
  return quantity === undefined ? '' : formatQuantity(parseQuantity(quantity));
}
