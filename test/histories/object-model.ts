// One object of the API as a sequential model: which responses are possible in which order. The state is the version of
// the object, or empty when there is none.
import type { Input, ObjectCall, Output, Version } from './history.ts'
import type { Operation, SequentialModel } from './linearizable.ts'

export interface ObjectAction {
  readonly input: Input
  readonly output: Output
}

const none = ''

/** Each version has a higher revision than the one that it replaces, as far as revisions are known. */
export function objectModel(revisionOf: ReadonlyMap<Version, number>): SequentialModel<ObjectAction> {
  const isNewer = (next: Version, state: Version): boolean =>
    (revisionOf.get(next) ?? Infinity) > (revisionOf.get(state) ?? -Infinity)
  return {
    initial: none,
    after(state, { input, output }) {
      switch (output.kind) {
        case 'found':
          return state === output.version ? state : undefined
        case 'absent':
          return state === none && input.kind !== 'create' ? state : undefined
        case 'conflict':
          return canConflict(state, input) ? state : undefined
        case 'written':
        case 'unknown': {
          const next = written(state, input)
          return next === none || (next !== undefined && isNewer(next, state)) ? next : undefined
        }
        default:
          return output satisfies never
      }
    },
  }
}

function written(state: Version, input: Input): Version | undefined {
  switch (input.kind) {
    case 'create':
      return state === none ? input.version : undefined
    case 'update':
      return state === input.from ? input.version : undefined
    case 'patch':
      return state === none ? undefined : input.version
    case 'delete':
      return state === none || (input.from !== undefined && input.from !== state) ? undefined : none
    case 'get':
      return undefined
    default:
      return input satisfies never
  }
}

function canConflict(state: Version, input: Input): boolean {
  switch (input.kind) {
    case 'create':
      return state !== none
    case 'update':
      return state !== none && state !== input.from
    case 'delete':
      return state !== none && input.from !== undefined && state !== input.from
    // The server gives up a patch after other writes were faster several times.
    case 'patch':
      return state !== none
    case 'get':
      return false
    default:
      return input satisfies never
  }
}

/**
 * The calls about one object as operations. `happened` decides about a write whose response is unknown; undefined: it may
 * have happened at any time since, or not at all.
 */
export function operationsOf(
  calls: readonly ObjectCall[],
  happened: (version: Version) => boolean | undefined,
): readonly Operation<ObjectAction>[] {
  return calls.flatMap(({ input, output, call, return: returned }): readonly Operation<ObjectAction>[] => {
    const action = { input, output }
    if (output.kind !== 'unknown') return [{ invoked: call, returned, action, uncertain: false }]
    // A read without a response gives no information.
    if (input.kind === 'get') return []
    const isCertain = input.kind === 'delete' ? undefined : happened(input.version)
    if (isCertain === false) return []
    return [{ invoked: call, returned: Infinity, action, uncertain: isCertain === undefined }]
  })
}
