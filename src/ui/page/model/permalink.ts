// The view in the URL fragment, so that a link shows exactly this view.
import type { FlowObject } from '../../../base/observability/flow-recorder.ts'

export const viewNames = ['overview', 'flows', 'objects', 'map'] as const
export type ViewName = (typeof viewNames)[number]
export const viewLabels: Readonly<Record<ViewName, string>> = {
  overview: 'Overview',
  flows: 'Flows',
  objects: 'Objects',
  map: 'Map',
}

export interface PageLocation {
  readonly view: ViewName
  /** The plural name of the listed resource, with its group: `deployments.apps`. */
  readonly resource: string
  /** Only objects of this namespace, and those without one; empty for all. */
  readonly namespace: string
  /** The selected object. */
  readonly object: FlowObject | undefined
  /** The selected flow event. */
  readonly event: number | undefined
  /** Folded messages that are expanded. */
  readonly expanded: readonly number[]
  /** Groups of participants of which each member has a lifeline: `kubelet`. */
  readonly unfolded: readonly string[]
  /** Only messages about objects of this resource; empty for all. */
  readonly kind: string
  /** Only messages that failed. */
  readonly onlyFailures: boolean
  /** Also messages that are background or without effect. */
  readonly showsBackground: boolean
  /** Only messages of this participant, or between two: `kubelet/node-0`, `scheduler>API Server`. */
  readonly between: string
  /** Words in the names of the listed objects, or of those of messages. */
  readonly search: string
  /** The column that decides the order of the list, with `-` before it for the reverse order; empty for names. */
  readonly sort: string
  /** The revision that the page shows; undefined for the present. */
  readonly revision: number | undefined
  /** The revision with which the shown one is compared; undefined if none is. */
  readonly compared: number | undefined
  /** The tab of the object. */
  readonly tab: string
  /** The pod of a workload whose logs are shown; all if it is empty. */
  readonly pod: string
  /** The container of the logs or of the terminal; the first one if it is empty. */
  readonly container: string
  /** The node that the map shows; empty for the cluster. */
  readonly node: string
  /** Of which it is asked whether the pod reaches it. */
  readonly target: string
}

export const startLocation: PageLocation = {
  view: 'overview',
  resource: 'pods',
  namespace: '',
  object: undefined,
  event: undefined,
  expanded: [],
  unfolded: [],
  kind: '',
  onlyFailures: false,
  showsBackground: false,
  between: '',
  search: '',
  sort: '',
  revision: undefined,
  compared: undefined,
  tab: '',
  pod: '',
  container: '',
  node: '',
  target: '',
}

export function fragmentOf(location: PageLocation): string {
  const { view, resource, namespace, object, event, between, search, sort, revision, tab, container } = location
  const query = new URLSearchParams()
  const set = (name: string, value: string | number | undefined): void => {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  if (resource !== startLocation.resource) set('resource', resource)
  set('namespace', namespace)
  set('object', objectText(object))
  set('event', event)
  set('expanded', location.expanded.join('.'))
  set('unfolded', location.unfolded.join('.'))
  set('kind', location.kind)
  if (location.onlyFailures) set('only', 'failures')
  if (location.showsBackground) set('background', 'shown')
  set('between', between)
  set('search', search)
  set('sort', sort)
  set('revision', revision)
  set('compared', location.compared)
  set('tab', tab)
  set('pod', location.pod)
  set('container', container)
  set('node', location.node)
  set('target', location.target)
  const text = query.toString()
  return text === '' ? `#${view}` : `#${view}?${text}`
}

/** `home` is the view of a link that names none. */
export function locationOf(fragment: string, home: ViewName = startLocation.view): PageLocation {
  const [name = '', query = ''] = fragment.replace(/^#/, '').split('?', 2)
  const values = new URLSearchParams(query)
  const number = (text: string | null): number | undefined =>
    text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
  const parts = values.get('object')?.split('/')
  const [resource = '', objectNamespace = '', objectName = ''] = parts ?? []
  return {
    view: viewNames.find((view) => view === name) ?? home,
    resource: values.get('resource') ?? startLocation.resource,
    namespace: values.get('namespace') ?? '',
    object: parts?.length === 3 ? { resource, namespace: objectNamespace, name: objectName } : undefined,
    event: number(values.get('event')),
    expanded: (values.get('expanded') ?? '').split('.').flatMap((id) => number(id) ?? []),
    unfolded: (values.get('unfolded') ?? '').split('.').filter((prefix) => prefix !== ''),
    kind: values.get('kind') ?? '',
    onlyFailures: values.get('only') === 'failures',
    showsBackground: values.get('background') === 'shown',
    between: values.get('between') ?? '',
    search: values.get('search') ?? '',
    sort: values.get('sort') ?? '',
    revision: number(values.get('revision')),
    compared: number(values.get('compared')),
    tab: values.get('tab') ?? '',
    pod: values.get('pod') ?? '',
    container: values.get('container') ?? '',
    node: values.get('node') ?? '',
    target: values.get('target') ?? '',
  }
}

/** Whether a change leads to another place, which the browser's Back leaves. Other changes only refine what is shown. */
export const isElsewhere = (a: PageLocation, b: PageLocation): boolean =>
  (['view', 'resource', 'namespace'] as const).some((name) => a[name] !== b[name]) ||
  objectText(a.object) !== objectText(b.object)

const objectText = (object: FlowObject | undefined): string =>
  object === undefined ? '' : `${object.resource}/${object.namespace}/${object.name}`

/** A view of its own, in the same namespace and at the same time. */
export const elsewhere = (
  { namespace, revision, compared }: PageLocation,
  change: Partial<PageLocation>,
): PageLocation => ({
  ...startLocation,
  namespace,
  revision,
  compared,
  ...change,
})
