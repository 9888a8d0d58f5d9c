/** Content negotiation: picks the response form that the client asks for. */
import { notAcceptable } from '../status-errors.ts';

/** How objects are shown: complete, as a table for people, or only their metadata. */
export type Presentation = 'object' | 'table' | 'metadata';

interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const OFFERED = ['application/json'];

/** The media ranges of an Accept header in written order, which is the order of preference for all Kubernetes clients. */
function parseAccept(accept: string | undefined): MediaRange[] {
  if (accept === undefined || accept.trim() === '') return [{ type: '*/*', parameters: {} }];
  return accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    return {
      type: type.toLowerCase(),
      parameters: Object.fromEntries(
        parameters.map((parameter) => {
          const [name = '', value = ''] = parameter.split('=');
          return [name.trim(), value.trim()];
        }),
      ),
    };
  });
}

function isJson({ type }: MediaRange): boolean {
  return type === 'application/json' || type === 'application/*' || type === '*/*';
}

const AS: Readonly<Record<string, Presentation>> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata',
};

/** The first supported form in the client's list; 406 if there is none. */
export function negotiatePresentation(accept: string | undefined): Presentation {
  for (const range of parseAccept(accept)) {
    if (!isJson(range)) continue;
    const { as, g, v } = range.parameters;
    if (as === undefined) return 'object';
    const presentation = Object.hasOwn(AS, as) ? AS[as] : undefined;
    if (presentation !== undefined && g === 'meta.k8s.io' && (v === 'v1' || v === 'v1beta1')) return presentation;
  }
  throw notAcceptable(OFFERED);
}

/** Discovery forms: two versions of the aggregated form, and the older form with one request per group version. */
export type DiscoveryForm = 'v2' | 'v2beta1' | 'legacy';

/** Clients ask for aggregated discovery through Accept parameters, as they do for tables. */
export function negotiateDiscovery(accept: string | undefined): DiscoveryForm {
  for (const range of parseAccept(accept)) {
    if (!isJson(range)) continue;
    const { as, g, v } = range.parameters;
    if (as === undefined) return 'legacy';
    if (as === 'APIGroupDiscoveryList' && g === 'apidiscovery.k8s.io' && (v === 'v2' || v === 'v2beta1')) return v;
  }
  return 'legacy';
}

/** The media type of a Content-Type header without its parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}
