// The status of a route: one entry for each parent of this controller. Entries of other controllers are kept. Pure.
import { namespaceOf } from '../../api/meta/object.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { RouteVerdict } from '../attachment/attach-routes.ts'
import { met, type Outcome } from '../attachment/outcome.ts'
import type { ParentReference, RouteParentStatus, RouteStatus } from '../kinds/route-kinds.ts'
import { mergeConditions } from './merge-conditions.ts'

export interface RouteStatusSources {
  readonly controllerName: string
  readonly resolvedRefs: Outcome
  /** Which rules are left out, if some are. */
  readonly dropped: string | undefined
  readonly time: string
}

const partiallyInvalid = 'PartiallyInvalid'

export function routeStatus({ route, parents }: RouteVerdict, sources: RouteStatusSources): RouteStatus {
  const { controllerName, resolvedRefs, dropped, time } = sources
  const { object } = route
  const before = object.status?.parents ?? []
  const home = namespaceOf(object)
  const own = parents.map(({ parentRef, accepted }): RouteParentStatus => {
    const known = before.find(
      (each) => each.controllerName === controllerName && isSameParent(each.parentRef, parentRef, home),
    )
    const wanted = [
      { type: 'Accepted', outcome: accepted },
      { type: 'ResolvedRefs', outcome: resolvedRefs },
      ...(dropped === undefined || !accepted.isMet
        ? []
        : [{ type: partiallyInvalid, outcome: met('UnsupportedValue', dropped) }]),
    ]
    const moment = { generation: object.metadata.generation, time }
    return {
      parentRef,
      controllerName,
      conditions: mergeConditions(known?.conditions, wanted, moment, [partiallyInvalid]),
    }
  })
  return { parents: [...before.filter((each) => each.controllerName !== controllerName), ...own] }
}

const isSameParent = (a: ParentReference, b: ParentReference, home: string): boolean =>
  equalValues({ ...a, namespace: a.namespace ?? home }, { ...b, namespace: b.namespace ?? home })
