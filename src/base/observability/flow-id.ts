import type { Brand } from '../brand.ts'

/** Position of an event in its recorder's history; 0 means none. */
export type FlowId = Brand<number, 'FlowId'>
