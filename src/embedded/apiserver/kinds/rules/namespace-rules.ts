import { PERMANENT_NAMESPACES } from '../../namespace-lifecycle.ts';
import { forbidden } from '../../status-errors.ts';
import type { Draft, KindRules } from '../kind.ts';

const NAMESPACE = { group: '', kind: 'Namespace', plural: 'namespaces' };
const CONTENT_FINALIZER = 'kubernetes';

/** A deleted namespace stays Terminating until `spec.finalizers` is empty. */
export const namespaceRules: KindRules = {
  name: 'label',
  defaults: (object) => {
    const name = object.metadata.name ?? '';
    const labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': name };
    return { ...object, metadata: { ...object.metadata, labels } };
  },
  prepareCreate: (object) => ({
    ...object,
    spec: { ...object.spec, finalizers: [CONTENT_FINALIZER] },
    status: { phase: 'Active' },
  }),
  prepareUpdate: (object, old) => (old.spec === undefined ? object : { ...object, spec: old.spec }),
  checkDelete: ({ metadata }) => {
    if (PERMANENT_NAMESPACES.includes(metadata.name ?? '')) {
      throw forbidden(NAMESPACE, metadata.name ?? '', 'this namespace may not be deleted');
    }
  },
  prepareDelete: (object) => ({ ...object, status: { ...object.status, phase: 'Terminating' } }),
  heldBack: (object) => contentFinalizers(object).length > 0,
};

function contentFinalizers({ spec }: Draft): readonly string[] {
  return (spec?.finalizers as readonly string[] | undefined) ?? [];
}
