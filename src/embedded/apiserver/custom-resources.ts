/** Serves custom resources as soon as their CustomResourceDefinition is written. Deleting a definition deletes its objects. */
import { toTimestamp } from '../../platform/clock.ts';
import type { StoreEvent } from '../event-log.ts';
import { sameJson } from '../frozen.ts';
import type { CustomResourceDefinition } from './crd/custom-resource-definition.ts';
import { definitionStatus } from './crd/definition-status.ts';
import { type ServedKind, servedKinds } from './crd/served-kind.ts';
import { deleteObject } from './deleting.ts';
import type { Draft, Kind } from './kinds/kind.ts';
import { CLEANUP_FINALIZER } from './kinds/rules/definition-rules.ts';
import type { World } from './world.ts';
import { storeUpdate } from './writing.ts';

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

/** Keeps the kind registry in step with the definitions in the store, for as long as the store lives. */
export function serveCustomResources(world: World): void {
  const { store } = world;
  /** Definitions that wait for their last object to be deleted, keyed by the collection of those objects. */
  const ending = new Map<string, string>();

  const finish = (name: string, collection: string): void => {
    if (store.collection(collection).size > 0) return;
    const definition = store.get(DEFINITIONS, name) as Draft | undefined;
    if (definition === undefined) return;
    ending.delete(collection);
    const finalizers = (definition.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    const changed = { ...definition, metadata: { ...definition.metadata, finalizers } };
    const kind = world.kinds.get({ group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' });
    storeUpdate(world, kind, { name }, definition, changed, false);
  };

  const end = (definition: CustomResourceDefinition): void => {
    const { group, names } = definition.spec;
    const collection = `${names.plural}.${group}`;
    if (ending.has(collection)) return;
    ending.set(collection, definition.metadata.name ?? '');
    const [kind] = world.kinds.versionsOf(group, names.plural);
    if (kind !== undefined) {
      for (const { metadata } of [...store.collection(collection).values()]) {
        const { name = '', namespace } = metadata;
        deleteObject(world, kind, namespace === undefined ? { name } : { name, namespace }, {});
      }
    }
    finish(definition.metadata.name ?? '', collection);
  };

  store.observe((event: StoreEvent) => {
    const waiting = event.type === 'DELETED' ? ending.get(event.collection) : undefined;
    if (waiting !== undefined) finish(waiting, event.collection);
    if (event.collection !== DEFINITIONS) return;
    const definition = event.object as CustomResourceDefinition;
    const { group, names } = definition.spec;
    if (event.type === 'DELETED') {
      world.kinds.replace(group, names.plural, []);
      return;
    }
    if (definition.metadata.deletionTimestamp !== undefined) {
      end(definition);
      return;
    }
    const others = [...store.collection(DEFINITIONS).values()].filter(
      (other) => other.metadata.name !== definition.metadata.name,
    ) as CustomResourceDefinition[];
    const status = definitionStatus(definition, others, toTimestamp(world.clock.now()));
    if (!sameJson(status, definition.status)) {
      // This write triggers the same handler again, then with the current status.
      store.put(DEFINITIONS, { ...definition, status } as CustomResourceDefinition);
      return;
    }
    const established = status.conditions?.some(
      ({ type, status: value }) => type === 'Established' && value === 'True',
    );
    if (established === true)
      world.kinds.replace(
        group,
        names.plural,
        servedKinds(definition).map((kind) => customKind(kind, definition)),
      );
  });
}

function customKind(served: ServedKind, definition: CustomResourceDefinition): Kind {
  const { group, version, schema } = served;
  const storage = definition.spec.versions.find((candidate) => candidate.storage)?.name ?? version;
  return {
    ...served,
    apiVersion: `${group}/${version}`,
    collection: `${served.plural}.${group}`,
    storedVersion: `${group}/${storage}`,
    builtIn: false,
    stored: true,
    hasGeneration: true,
    subresources: [],
    schema: () => schema,
    defaultsOnRead: schema.hasDefaults,
    rules: {},
  };
}
