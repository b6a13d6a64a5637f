// The RBAC objects of every new cluster, as upstream creates them. Aggregated roles include their rules from the start.
import { decisionQueriesPath, decisionsPath, flowEventsPath } from '../../../api/coxswain/v1/flow-protocol.ts'
import type { ClusterRole } from '../../../api/rbac/v1/cluster-role.ts'
import type { PolicyRule } from '../../../api/rbac/v1/policy-rule.ts'
import { selects } from '../../../api/selectors/selectors.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { account, clusterRole, clusterRoleBinding, group, on, role, roleBinding, urls, user } from './role-builders.ts'
import type { ObjectManifest } from '../../bootstrap/bootstrap-object.ts'
import { clusterRoles } from './cluster-roles.ts'
import { controllerRules } from './controller-rules.ts'

const controllerRole = (name: string): string => `system:controller:${name}`

const leaderElection = ['leases', 'leasecandidates'].map((resource) =>
  on('create get list update watch', 'coordination.k8s.io', resource),
)
const controllerManager = 'kube-controller-manager'
const scheduler = 'kube-scheduler'
const authenticationReader = 'extension-apiserver-authentication-reader'

const roles = [
  role('kube-public', controllerRole('bootstrap-signer'), [
    on('get list watch', 'core', 'configmaps'),
    on('update', 'core', 'configmaps', 'cluster-info'),
    on('create patch update', 'core events.k8s.io', 'events'),
  ]),
  role('kube-system', authenticationReader, [
    on('get list watch', 'core', 'configmaps', 'extension-apiserver-authentication'),
  ]),
  role('kube-system', `system::leader-locking-${controllerManager}`, leaderElection),
  role('kube-system', `system::leader-locking-${scheduler}`, leaderElection),
  role('kube-system', controllerRole('bootstrap-signer'), [on('get list watch', 'core', 'secrets')]),
  role('kube-system', controllerRole('cloud-provider'), [on('create get list watch', 'core', 'configmaps')]),
  role('kube-system', controllerRole('token-cleaner'), [
    on('delete get list watch', 'core', 'secrets'),
    on('create patch update', 'core events.k8s.io', 'events'),
  ]),
]

const controllerRoleBinding = (namespace: string, name: string) =>
  roleBinding(namespace, controllerRole(name), controllerRole(name), account(name))

const leaderLocking = (component: string, ...accounts: string[]) => {
  const name = `system::leader-locking-${component}`
  return roleBinding('kube-system', name, name, user(`system:${component}`), ...[component, ...accounts].map(account))
}

const roleBindings = [
  controllerRoleBinding('kube-public', 'bootstrap-signer'),
  roleBinding(
    'kube-system',
    `system::${authenticationReader}`,
    authenticationReader,
    user(`system:${controllerManager}`),
    user(`system:${scheduler}`),
  ),
  leaderLocking(controllerManager, 'leader-election-controller'),
  leaderLocking(scheduler),
  controllerRoleBinding('kube-system', 'bootstrap-signer'),
  controllerRoleBinding('kube-system', 'cloud-provider'),
  controllerRoleBinding('kube-system', 'token-cleaner'),
]

const clusterRoleBindings = [
  clusterRoleBinding('cluster-admin', group('system:masters')),
  clusterRoleBinding('system:basic-user', group('system:authenticated')),
  ...Object.keys(controllerRules).map((name) => clusterRoleBinding(controllerRole(name), account(name))),
  clusterRoleBinding('system:discovery', group('system:authenticated')),
  clusterRoleBinding('system:kube-controller-manager', user('system:kube-controller-manager')),
  clusterRoleBinding('system:kube-dns', account('kube-dns')),
  clusterRoleBinding('system:kube-scheduler', user('system:kube-scheduler')),
  clusterRoleBinding('system:monitoring', group('system:monitoring')),
  // The Node authorizer replaces this role, so the binding has no subjects.
  clusterRoleBinding('system:node'),
  clusterRoleBinding('system:node-proxier', user('system:kube-proxy')),
  clusterRoleBinding('system:public-info-viewer', group('system:authenticated'), group('system:unauthenticated')),
  clusterRoleBinding('system:service-account-issuer-discovery', group('system:serviceaccounts')),
  clusterRoleBinding('system:volume-scheduler', user('system:kube-scheduler')),
]

const plainClusterRoles: readonly ObjectManifest<ClusterRole>[] = [
  ...clusterRoles,
  ...Object.entries(controllerRules).map(([name, rules]) => clusterRole(controllerRole(name), rules)),
]

/** The union of the rules of the selected roles, ordered by role name. */
function aggregatedRules(
  target: ObjectManifest<ClusterRole>,
  all: readonly ObjectManifest<ClusterRole>[],
): PolicyRule[] {
  const { aggregationRule } = target
  if (aggregationRule === undefined) return [...(target.rules ?? [])]
  const rules: PolicyRule[] = []
  for (const source of all.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const { labels = {} } = source.metadata
    const selectors = aggregationRule.clusterRoleSelectors ?? []
    if (source === target || !selectors.some((selector) => selects(selector, labels))) continue
    for (const rule of aggregatedRules(source, all))
      if (!rules.some((known) => equalValues(known, rule))) rules.push(rule)
  }
  return rules
}

export const defaultClusterRoles: readonly ObjectManifest<ClusterRole>[] = plainClusterRoles.map((target) => ({
  ...target,
  rules: aggregatedRules(target, plainClusterRoles),
}))

/** Not in upstream: allows components in separate processes to send their flow events. */
const flowExporter = 'coxswain:flow-exporter'
/** Not in upstream: allows schedulers in separate processes to answer queries about their decisions. */
const decisionReporter = 'coxswain:decision-reporter'
/** Not in upstream: allows API servers to read what the others have recorded. */
const flowReader = 'coxswain:flow-reader'

export const coxswainRbacObjects = {
  clusterRoles: [
    clusterRole(flowExporter, [urls('post', flowEventsPath)]),
    clusterRole(decisionReporter, [urls('get post', decisionQueriesPath)]),
    clusterRole(flowReader, [urls('get', `${flowEventsPath} ${decisionsPath}*`)]),
  ],
  clusterRoleBindings: [
    clusterRoleBinding(
      flowExporter,
      ...[controllerManager, scheduler].map((component) => user(`system:${component}`)),
      group('system:nodes'),
    ),
    clusterRoleBinding(decisionReporter, user(`system:${scheduler}`)),
    clusterRoleBinding(flowReader, user('system:apiserver')),
  ],
} as const

export const defaultRbacObjects = {
  clusterRoles: defaultClusterRoles,
  clusterRoleBindings,
  roles,
  roleBindings,
} as const
