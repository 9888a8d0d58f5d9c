import type { JsonObject } from '../schema/schema.ts';

/** `application/vnd.kubernetes.protobuf`. */
export declare const PROTOBUF_MEDIA_TYPE: 'application/vnd.kubernetes.protobuf';

/** Reads a request body of that type as the JSON object it stands for, with apiVersion and kind. Throws
 * KUBE_BODY_UNREADABLE (answer 400) for bytes that are not such an object and for kinds without a field table. */
export declare function decodeProtobuf(body: Uint8Array): JsonObject;
