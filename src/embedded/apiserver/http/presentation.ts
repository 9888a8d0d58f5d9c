/** Writes objects and lists as text in the requested form. The text of an object is written once and shared. */
import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import type { ListPage } from '../../../kube/client.ts';
import { jsonText } from '../../frozen.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Presentation } from './media-types.ts';

/** Which part of its object a table row includes besides the cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** How objects are shown. */
export interface PresentationOptions {
  readonly presentation: Presentation;
  readonly includeObject: IncludeObject;
  readonly now: number;
}

const META = 'meta.k8s.io/v1';

/** One object as text. */
export function presentObject(kind: Kind, object: KubeObject, options: PresentationOptions): string {
  switch (options.presentation) {
    case 'object':
      return Object.isFrozen(object) ? jsonText(object) : JSON.stringify(object);
    case 'metadata':
      return partialMetadata(object);
    case 'table':
      return tableText(
        kind,
        [object],
        listMeta({ resourceVersion: object.metadata.resourceVersion ?? '' }),
        options,
        true,
      );
  }
}

/** A page of a list as text. */
export function presentList(kind: Kind, page: ListPage<KubeObject>, options: PresentationOptions): string {
  const { items } = page;
  const metadata = listMeta(page);
  switch (options.presentation) {
    case 'object': {
      const head = `{"kind":${JSON.stringify(kind.listKind)},"apiVersion":${JSON.stringify(kind.apiVersion)}`;
      return `${head},"metadata":${metadata},"items":[${items.map(jsonText).join(',')}]}\n`;
    }
    case 'metadata': {
      const head = `{"kind":"PartialObjectMetadataList","apiVersion":"${META}"`;
      return `${head},"metadata":${metadata},"items":[${items.map(partialMetadata).join(',')}]}\n`;
    }
    case 'table':
      return tableText(kind, items, metadata, options, true);
  }
}

/** The object of a watch event. A table lists its columns only in the first event. */
export function presentWatched(kind: Kind, object: KubeObject, options: PresentationOptions, first: boolean): string {
  if (options.presentation !== 'table') return presentObject(kind, object, options);
  const metadata = listMeta({ resourceVersion: object.metadata.resourceVersion ?? '' });
  return tableText(kind, [object], metadata, options, first);
}

function listMeta(page: Pick<ListPage<unknown>, 'resourceVersion' | 'continue' | 'remainingItemCount'>): string {
  const { resourceVersion, continue: token, remainingItemCount } = page;
  return JSON.stringify({ resourceVersion, continue: token, remainingItemCount });
}

function partialMetadata({ metadata }: KubeObject): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"${META}","metadata":${jsonText(metadata)}}`;
}

function tableText(
  kind: Kind,
  objects: readonly KubeObject[],
  metadata: string,
  options: PresentationOptions,
  withColumns: boolean,
): string {
  const rows = objects.map((object) => {
    const cells = JSON.stringify(kind.cells(object, options.now));
    return `{"cells":${cells},"object":${rowObject(object, options.includeObject)}}`;
  });
  const columns = withColumns ? JSON.stringify(kind.columns) : 'null';
  const head = `{"kind":"Table","apiVersion":"${META}","metadata":${metadata}`;
  return `${head},"columnDefinitions":${columns},"rows":[${rows.join(',')}]}`;
}

function rowObject(object: KubeObject, include: IncludeObject): string {
  if (include === 'None') return 'null';
  return include === 'Object' ? jsonText(object) : partialMetadata(object);
}
