// Where Enter leads from an object: from a workload to its pods, from a pod to its containers, from a definition to its
// objects.
import { qualifiedResource } from '../../../api/kind/kind.ts'
import { resourceNamed, type ObjectRef, type Resource } from './resources.ts'
import type { TableSource } from './views.ts'

/** Where to, without reading the object; `read` if that takes its fields, undefined if there is nowhere to go. */
export function drillDown(
  { resource, namespace, name }: ObjectRef,
  resources: readonly Resource[],
): TableSource | 'read' | undefined {
  const pods = resourceNamed('pods', resources)
  switch (qualifiedResource(resource)) {
    case 'pods':
      return { kind: 'containers', pod: { resource, namespace, name } }
    case 'namespaces':
      return pods && { kind: 'list', resource: pods, namespace: name }
    case 'nodes':
      return (
        pods && {
          kind: 'list',
          resource: pods,
          namespace: '',
          selector: { text: `node/${name}`, fieldSelector: `spec.nodeName=${name}` },
        }
      )
    case 'customresourcedefinitions.apiextensions.k8s.io': {
      const custom = resourceNamed(name, resources)
      return custom && { kind: 'list', resource: custom, namespace: '' }
    }
    default:
      return selectsPods(resource) || qualifiedResource(resource) === 'cronjobs.batch' ? 'read' : undefined
  }
}

const withPods = new Set([
  'daemonsets.apps',
  'deployments.apps',
  'jobs.batch',
  'replicasets.apps',
  'replicationcontrollers',
  'services',
  'statefulsets.apps',
])
/** Whether objects of the kind have a selector of pods. */
export const selectsPods = (resource: Resource): boolean => withPods.has(qualifiedResource(resource))

interface ReadObject {
  readonly metadata?: { readonly uid?: string }
  readonly spec?: { readonly selector?: unknown }
}

/** Where to from the fields of an object; undefined if it selects nothing. */
export function drillDownFrom(of: ObjectRef, object: unknown, resources: readonly Resource[]): TableSource | undefined {
  const { metadata: { uid } = {}, spec: { selector } = {} } = object as ReadObject
  const text = `${of.resource.singular}/${of.name}`
  const pods = resourceNamed('pods', resources)
  const jobs = resourceNamed('jobs', resources)
  if (of.resource.plural === 'cronjobs')
    return uid === undefined || jobs === undefined
      ? undefined
      : { kind: 'list', resource: jobs, namespace: of.namespace, selector: { text, ownerUid: uid } }
  const labelSelector = selectorText(selector)
  if (labelSelector === '' || pods === undefined) return undefined
  return { kind: 'list', resource: pods, namespace: of.namespace, selector: { text, labelSelector } }
}

interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: string[] }[]
}

/** A selector as a query: that of a Service is a map of labels, others have matchLabels and matchExpressions. */
function selectorText(selector: unknown): string {
  if (typeof selector !== 'object' || selector === null) return ''
  const isMap = !('matchLabels' in selector) && !('matchExpressions' in selector)
  const { matchLabels = {}, matchExpressions = [] } = (isMap ? { matchLabels: selector } : selector) as LabelSelector
  const labels = Object.entries(matchLabels).map(([name, value]) => `${name}=${value}`)
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`
  })
  return [...labels, ...expressions].join(',')
}
