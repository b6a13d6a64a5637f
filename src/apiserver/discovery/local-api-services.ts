// The APIServices of the groups that this server serves itself, as upstream registers them at its start. Their
// priorities decide in which order clients look for a resource.
import { lookup } from '../../base/collections/lookup.ts'
import { apiService, type APIService } from '../../api/apiregistration/v1/api-service.ts'
import { addOnGroups, groupVersions } from '../../api/kinds.ts'
import type { BootstrapObject } from '../bootstrap/bootstrap-object.ts'
import type { GroupVersion } from '../kinds/kind-catalogue.ts'

const managedLabel = 'kube-aggregator.kubernetes.io/automanaged'
export const versionPriorityDefault = 15

/** The group with the higher number wins where several groups have a resource of the same name. */
export const groupPriorities: Readonly<Record<string, number>> = {
  '': 18_000,
  'admissionregistration.k8s.io': 16_700,
  'apiextensions.k8s.io': 16_700,
  apps: 17_800,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'coordination.k8s.io': 16_500,
  'discovery.k8s.io': 16_200,
  'events.k8s.io': 17_750,
  'flowcontrol.apiserver.k8s.io': 16_100,
  'networking.k8s.io': 17_200,
  'node.k8s.io': 16_300,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'resource.k8s.io': 16_200,
  'scheduling.k8s.io': 16_600,
  'storage.k8s.io': 16_800,
}

/** Versions with another priority within their group. */
export const versionPriorities: Readonly<Record<string, number>> = {
  'v1.': 1,
  'v1.flowcontrol.apiserver.k8s.io': 21,
  'v1.resource.k8s.io': 21,
  'v1beta1.coordination.k8s.io': 13,
  'v2.autoscaling': 30,
}

/** The APIService of a group version that this server defines. */
export const localApiServiceOf = (group: string, version: string): BootstrapObject => {
  const name = `${version}.${group}`
  const object = {
    apiVersion: apiService.apiVersion,
    kind: apiService.kind,
    metadata: { name, labels: { [managedLabel]: 'onstart' } },
    spec: {
      ...(group === '' ? {} : { group }),
      version,
      groupPriorityMinimum: lookup(groupPriorities, group),
      versionPriority: lookup(versionPriorities, name) ?? versionPriorityDefault,
    },
  }
  return {
    kind: apiService,
    object,
    status: (made) => apiService.initialStatus?.(made as APIService),
  }
}

/** Upstream's metrics-server registers its API with these priorities. */
const addOnPriorities = { groupPriorityMinimum: 100, versionPriority: 100 }

/**
 * The APIService of an add-on's API that this server serves itself, such as the metrics API. A user who installs the add-on
 * replaces it.
 */
export const addOnApiServiceOf = ({ group, version }: GroupVersion): BootstrapObject => ({
  kind: apiService,
  object: {
    apiVersion: apiService.apiVersion,
    kind: apiService.kind,
    metadata: { name: `${version}.${group}`, labels: { [managedLabel]: 'onstart' } },
    spec: { group, version, ...addOnPriorities },
  } as BootstrapObject['object'],
  status: (made) => apiService.initialStatus?.(made as APIService),
})

export const addOnGroupVersions: readonly GroupVersion[] = groupVersions.filter(({ group }) =>
  addOnGroups.includes(group),
)

export const localApiServices: readonly BootstrapObject[] = [
  ...Object.keys(groupPriorities).map((group) => localApiServiceOf(group, 'v1')),
  localApiServiceOf('autoscaling', 'v2'),
]
