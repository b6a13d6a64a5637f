// Which objects use a Secret, a ConfigMap, a claim or a ServiceAccount. Objects that a controller makes from a template are represented
// by what has the template.
import type { ClusterObject } from '../../source/source.ts'
import { referencesOf, type PodReferences } from './pod-references.ts'
import { titleOf } from './pod-summary.ts'
import { linkTo, tableRowsMax, type RelatedLists, type RelatedQuery, type SummaryTable } from './summary-parts.ts'

type Fields = Readonly<Record<string, unknown>>

interface Templated {
  readonly kind: string
  readonly resource: string
  readonly specOf: (spec: Fields) => Fields | undefined
}

/** Kinds with a pod template, and where it is. */
const templates: readonly Templated[] = [
  { kind: 'Deployment', resource: 'deployments.apps', specOf: templateOf },
  { kind: 'StatefulSet', resource: 'statefulsets.apps', specOf: templateOf },
  { kind: 'DaemonSet', resource: 'daemonsets.apps', specOf: templateOf },
  { kind: 'ReplicaSet', resource: 'replicasets.apps', specOf: templateOf },
  { kind: 'Job', resource: 'jobs.batch', specOf: templateOf },
  {
    kind: 'CronJob',
    resource: 'cronjobs.batch',
    specOf: ({ jobTemplate }) => templateOf((jobTemplate as Fields | undefined)?.['spec'] as Fields | undefined),
  },
  { kind: 'Pod', resource: 'pods', specOf: (spec) => spec },
]

function templateOf(spec: Fields | undefined): Fields | undefined {
  return (spec?.['template'] as { readonly spec?: Fields } | undefined)?.spec
}

/** The pod template of an object; of a pod its own spec. */
export const podTemplateOf = (resource: string, spec: Fields): Fields | undefined =>
  templates.find((each) => each.resource === resource)?.specOf(spec)

/** Kinds of controllers that make their objects from a template of theirs, which is listed. */
const controllers: ReadonlySet<string> = new Set(templates.map(({ kind }) => kind))

export const usedByQueries = ({ metadata: { namespace = '' } }: ClusterObject): readonly RelatedQuery[] =>
  [...templates.map(({ resource }) => resource), 'serviceaccounts', ingresses].map((resource) => ({
    resource,
    namespace,
  }))

const ingresses = 'ingresses.networking.k8s.io'

export interface User {
  readonly kind: string
  readonly resource: string
  readonly object: ClusterObject
}

export function usersOf(
  lists: RelatedLists,
  uses: (references: PodReferences) => boolean,
  others: (lists: RelatedLists) => readonly User[] = () => [],
): readonly User[] {
  const users = templates.flatMap(({ kind, resource, specOf }) =>
    lists(resource)
      .filter(({ metadata }) => !metadata.ownerReferences?.some((owner) => controllers.has(owner.kind)))
      .filter(({ spec = {} }) => uses(referencesOf(specOf(spec))))
      .map((object) => ({ kind, resource, object })),
  )
  return [...users, ...others(lists)]
}

/** ServiceAccounts and Ingresses refer to Secrets too. */
export const otherUsersOfSecret =
  (name: string) =>
  (lists: RelatedLists): readonly User[] => {
    const inAccount = (account: ClusterObject): boolean => {
      const { secrets = [], imagePullSecrets = [] } = account as {
        readonly secrets?: readonly { readonly name?: string }[]
        readonly imagePullSecrets?: readonly { readonly name?: string }[]
      }
      return [...secrets, ...imagePullSecrets].some((each) => each.name === name)
    }
    const inIngress = ({ spec }: ClusterObject): boolean =>
      ((spec?.['tls'] ?? []) as readonly { readonly secretName?: string }[]).some(
        ({ secretName }) => secretName === name,
      )
    const of = (kind: string, resource: string, isUser: (object: ClusterObject) => boolean) =>
      lists(resource)
        .filter(isUser)
        .map((object) => ({ kind, resource, object }))
    return [...of('ServiceAccount', 'serviceaccounts', inAccount), ...of('Ingress', ingresses, inIngress)]
  }

export const usedByTable = (users: readonly User[]): SummaryTable => ({
  title: titleOf('Used by', users),
  columns: ['Kind', 'Name'],
  rows: users.slice(0, tableRowsMax).map(({ kind, resource, object }) => [kind, linkTo(resource, object)]),
  empty: 'Nothing in its namespace uses it.',
})
