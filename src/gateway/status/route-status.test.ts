import { deepEqual } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { met, unmet, type Outcome } from '../attachment/outcome.ts'
import type { AnyRoute, ParentReference, RouteParentStatus } from '../kinds/route-kinds.ts'
import { httpRouteOf } from '../simulated-objects.harness.ts'
import { routeStatus } from './route-status.ts'

const own = 'coxswain.dev/gateway'
const accepted = met('Accepted', 'the route is accepted')
const rejected = unmet('NoMatchingParent', 'the Gateway has no listener x')
const resolved = met('ResolvedRefs', 'all references are resolved')

const condition = (type: string, status: string) => ({
  type,
  status,
  reason: 'Before',
  message: '',
  lastTransitionTime: 't1',
})
const entry = (
  parentRef: ParentReference,
  controllerName = own,
  conditions = [
    condition('Accepted', 'True'),
    condition('ResolvedRefs', 'False'),
    condition('PartiallyInvalid', 'True'),
  ],
): RouteParentStatus => ({ parentRef, controllerName, conditions })

const routeWith = (parents?: readonly RouteParentStatus[]): AnyRoute => {
  const route = httpRouteOf('r')
  return parents === undefined ? route : ({ ...route, object: { ...route.object, status: { parents } } } as AnyRoute)
}

interface Case {
  readonly name: string
  readonly before?: readonly RouteParentStatus[]
  readonly parents: readonly (readonly [ParentReference, Outcome])[]
  readonly resolvedRefs?: Outcome
  readonly dropped?: string
  /** `controller parent: Type=Status Reason time`. */
  readonly expected: readonly string[]
}

const gateway = { name: 'gateway' }
const cases: readonly Case[] = [
  {
    name: 'has no entry without a parent',
    parents: [],
    expected: [],
  },
  {
    name: 'has an entry for each parent',
    parents: [
      [{ ...gateway, sectionName: 'a' }, accepted],
      [{ ...gateway, sectionName: 'x' }, rejected],
    ],
    expected: [
      `${own} gateway/a: Accepted=True Accepted t2, ResolvedRefs=True ResolvedRefs t2`,
      `${own} gateway/x: Accepted=False NoMatchingParent t2, ResolvedRefs=True ResolvedRefs t2`,
    ],
  },
  {
    name: 'reports references that are not resolved',
    parents: [[gateway, accepted]],
    resolvedRefs: unmet('BackendNotFound', 'Service default/web does not exist'),
    expected: [`${own} gateway/: Accepted=True Accepted t2, ResolvedRefs=False BackendNotFound t2`],
  },
  {
    name: 'reports rules that are left out',
    parents: [[gateway, accepted]],
    dropped: 'Dropped Rule 1: mirrors',
    expected: [
      `${own} gateway/: Accepted=True Accepted t2, ResolvedRefs=True ResolvedRefs t2, PartiallyInvalid=True UnsupportedValue t2`,
    ],
  },
  {
    name: 'does not report them if the route is not accepted',
    parents: [[gateway, rejected]],
    dropped: 'Dropped Rule 1: mirrors',
    expected: [`${own} gateway/: Accepted=False NoMatchingParent t2, ResolvedRefs=True ResolvedRefs t2`],
  },
  {
    name: 'keeps times of conditions whose status is the same, and no longer reports rules that are served',
    before: [entry(gateway)],
    parents: [[gateway, accepted]],
    expected: [`${own} gateway/: Accepted=True Accepted t1, ResolvedRefs=True ResolvedRefs t2`],
  },
  {
    name: 'knows an entry whose reference names the namespace of the route',
    before: [entry({ ...gateway, namespace: 'default' })],
    parents: [[gateway, accepted]],
    expected: [`${own} gateway/: Accepted=True Accepted t1, ResolvedRefs=True ResolvedRefs t2`],
  },
  {
    name: 'takes no times from an entry of another section, namespace or controller',
    before: [
      entry({ ...gateway, sectionName: 'a' }),
      entry({ ...gateway, namespace: 'other' }),
      entry(gateway, 'example.com/other', [condition('Accepted', 'True')]),
    ],
    parents: [[gateway, accepted]],
    expected: [
      'example.com/other gateway/: Accepted=True Before t1',
      `${own} gateway/: Accepted=True Accepted t2, ResolvedRefs=True ResolvedRefs t2`,
    ],
  },
  {
    name: 'loses the entries of parents that are no longer named, and keeps those of other controllers',
    before: [entry(gateway), entry(gateway, 'example.com/other', [condition('Accepted', 'True')])],
    parents: [],
    expected: ['example.com/other gateway/: Accepted=True Before t1'],
  },
]

suite('the status of a route', () => {
  for (const { name, before, parents, resolvedRefs = resolved, dropped, expected } of cases)
    test(name, () => {
      const verdicts = parents.map(([parentRef, outcome]) => ({ parentRef, accepted: outcome, attachments: [] }))
      const sources = { controllerName: own, resolvedRefs, dropped, time: 't2' }
      const status = routeStatus({ route: routeWith(before), parents: verdicts }, sources)
      const found = status.parents.map(({ controllerName, parentRef, conditions }) => {
        const text = conditions.map((each) => `${each.type}=${each.status} ${each.reason} ${each.lastTransitionTime}`)
        return `${controllerName} ${parentRef.name}/${parentRef.sectionName ?? ''}: ${text.join(', ')}`
      })
      deepEqual(found, expected)
    })
})
