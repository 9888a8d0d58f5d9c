/** The behaviour of the VPC API that this code was written for. */
export const VPC_API_VERSION = '2026-10-06';
