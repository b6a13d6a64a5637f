// The forms of operations: the method, parameters, body and statuses of each verb.
import { lookup } from '../../base/collections/lookup.ts'

export type ParameterType = 'string' | 'integer' | 'boolean'

/** Query parameters. */
export type Parameters = Readonly<Record<string, ParameterType>>

export interface OperationShape {
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'patch'
  /** Upstream's names: `list`, `post`, `deletecollection`, `connect` … */
  readonly action: string
  readonly parameters: Parameters
  readonly statuses: readonly number[]
  readonly takes?: 'object' | 'patch' | 'delete'
}

export const pretty = { pretty: 'string' } as const
const dryRun = { ...pretty, dryRun: 'string' } as const
const writing = { ...dryRun, fieldManager: 'string', fieldValidation: 'string' } as const
const selecting = {
  ...pretty,
  continue: 'string',
  fieldSelector: 'string',
  labelSelector: 'string',
  limit: 'integer',
  resourceVersion: 'string',
  resourceVersionMatch: 'string',
  sendInitialEvents: 'boolean',
  shardSelector: 'string',
  timeoutSeconds: 'integer',
} as const
const listing = { ...selecting, allowWatchBookmarks: 'boolean', watch: 'boolean' } as const
const deleting = {
  ...dryRun,
  gracePeriodSeconds: 'integer',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'boolean',
  orphanDependents: 'boolean',
  propagationPolicy: 'string',
} as const

const deleteCollection = { method: 'delete', action: 'deletecollection', statuses: [200] } as const
const get = { method: 'get', action: 'get', statuses: [200] } as const
const patch = {
  method: 'patch',
  action: 'patch',
  parameters: { ...writing, force: 'boolean' },
  takes: 'patch',
} as const

interface Shapes {
  /** For a path without a name. */
  readonly collection: Readonly<Record<string, OperationShape>>
  readonly object: Readonly<Record<string, OperationShape>>
}

const list: OperationShape = { method: 'get', action: 'list', parameters: listing, statuses: [200] }

export const builtInShapes: Shapes = {
  collection: {
    list,
    create: { method: 'post', action: 'post', parameters: writing, takes: 'object', statuses: [200, 201, 202] },
    deletecollection: { ...deleteCollection, parameters: { ...selecting, ...deleting }, takes: 'delete' },
  },
  object: {
    get: { ...get, parameters: pretty },
    update: { method: 'put', action: 'put', parameters: writing, takes: 'object', statuses: [200, 201] },
    delete: { method: 'delete', action: 'delete', parameters: deleting, takes: 'delete', statuses: [200, 202] },
    patch: { ...patch, statuses: [200, 201] },
  },
}

/** Upstream describes some operations of custom kinds differently. */
export const customShapes: Shapes = {
  collection: { ...builtInShapes.collection, deletecollection: { ...deleteCollection, parameters: listing } },
  object: {
    ...builtInShapes.object,
    get: { ...get, parameters: { ...pretty, resourceVersion: 'string' } },
    patch: { ...patch, statuses: [200] },
  },
}

export const shapeOf = ({ collection, object }: Shapes, verb: string): OperationShape | undefined =>
  lookup(object, verb) ?? lookup(collection, verb)

export const listShape = list
