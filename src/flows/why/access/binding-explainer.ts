// Explains RoleBindings and ClusterRoleBindings that grant nothing: their role or their subjects do not exist.
import { lookup } from '../../../base/collections/lookup.ts'
import { didYouMean, similarNames } from '../../../base/text/similar-names.ts'
import { serviceAccount } from '../../../api/core/v1/service-account.ts'
import type { ResourceType } from '../../../api/kind/kind.ts'
import { namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import { clusterRole } from '../../../api/rbac/v1/cluster-role.ts'
import { clusterRoleBinding } from '../../../api/rbac/v1/cluster-role-binding.ts'
import type { RoleRef, Subject } from '../../../api/rbac/v1/policy-rule.ts'
import { role } from '../../../api/rbac/v1/role.ts'
import { roleBinding } from '../../../api/rbac/v1/role-binding.ts'
import { isMissing, type ClusterReader } from '../explainer/cluster-reader.ts'
import { defineExplainer, questionSentence } from '../explainer/explainer.ts'
import { problem, warning, type Finding } from '../explainer/finding.ts'
import { jsonPatch, kubectl } from '../explainer/fix-command.ts'

interface Binding extends ApiObject {
  readonly roleRef: RoleRef
  readonly subjects?: readonly Subject[]
}

const checked = 'its role and its subjects'

export const roleBindingExplainer = defineExplainer({
  kind: roleBinding,
  checked,
  explain: (object, cluster) => bindingFindings('rolebinding', object, cluster),
})

export const clusterRoleBindingExplainer = defineExplainer({
  kind: clusterRoleBinding,
  checked,
  explain: (object, cluster) => bindingFindings('clusterrolebinding', object, cluster),
})

async function bindingFindings(resource: string, binding: Binding, cluster: ClusterReader): Promise<Finding[]> {
  const { subjects = [], metadata } = binding
  const target = `${resource}/${metadata.name}`
  const findings = await roleFindings(resource, binding, cluster)
  if (subjects.length === 0 && !isBootstrap(binding))
    findings.push(
      warning('It grants nothing: it has no subjects.', {
        fix: kubectl(namespaceOf(binding), 'set', 'subject', target, '--serviceaccount=NAMESPACE:NAME'),
      }),
    )
  if (isBootstrap(binding)) return findings
  for (const [index, subject] of subjects.entries())
    findings.push(...(await subjectFindings(target, index, subject, binding, cluster)))
  return findings
}

/** Default bindings name the ServiceAccounts of controllers, which are created when a controller first needs one. */
const isBootstrap = ({ metadata }: Binding): boolean =>
  lookup(metadata.labels, 'kubernetes.io/bootstrapping') === 'rbac-defaults'

/** The role of a binding cannot be changed, so that the binding is created again where another role was meant. */
async function roleFindings(resource: string, binding: Binding, cluster: ClusterReader): Promise<Finding[]> {
  const { kind: kindName, name } = binding.roleRef
  const kind: ResourceType = kindName === 'Role' ? role : clusterRole
  const home = namespaceOf(binding)
  const roleHome = kindName === 'Role' ? home : ''
  if (!(await isMissing(cluster, kind, roleHome, name))) return []
  const known = (await cluster.list(kind, roleHome)).map(({ metadata }) => metadata.name)
  const similar = similarNames(name, known)
  const [meant] = similar
  const where = kindName === 'Role' ? ` in the namespace ${home}` : ''
  return [
    problem(
      `It grants nothing: its ${kindName} ${name} does not exist${where}.${questionSentence(didYouMean(similar))}`,
      {
        fix: meant === undefined ? createRole(roleHome, kindName, name) : bindAgain(resource, binding, kindName, meant),
      },
    ),
  ]
}

const createRole = (home: string, kindName: string, name: string): string =>
  kubectl(home, 'create', kindName.toLowerCase(), name, '--verb=get,list,watch', '--resource=RESOURCE')

function bindAgain(resource: string, binding: Binding, kindName: string, meant: string): string {
  const home = namespaceOf(binding)
  const { name } = binding.metadata
  const subjects = (binding.subjects ?? []).map((each) =>
    each.kind === 'ServiceAccount'
      ? `--serviceaccount=${each.namespace ?? home}:${each.name}`
      : `--${each.kind.toLowerCase()}=${each.name}`,
  )
  const create = kubectl(home, 'create', resource, name, `--${kindName.toLowerCase()}=${meant}`, ...subjects)
  return `${kubectl(home, 'delete', resource, name)} && ${create}`
}

const accountUser = /^system:serviceaccount:([^:]{1,63}):([^:]{1,253})$/

async function subjectFindings(
  target: string,
  index: number,
  { kind, name, namespace }: Subject,
  binding: Binding,
  cluster: ClusterReader,
): Promise<Finding[]> {
  const home = namespaceOf(binding)
  const [, userHome = '', userName = ''] = kind === 'User' ? (accountUser.exec(name) ?? []) : []
  if (kind === 'ServiceAccount' || userName !== '')
    return accountFindings(
      (value) => jsonPatch(target, home, { op: 'replace', path: `/subjects/${index}/name`, value }),
      userName === '' ? { home: namespace ?? home, name } : { home: userHome, name: userName },
      cluster,
    )
  const isAccount = kind === 'User' && home !== '' && (await cluster.find(serviceAccount, home, name)) !== undefined
  if (!isAccount) return []
  return [
    warning(`Its subject is the user ${name}, and not the ServiceAccount ${name} of the namespace ${home}.`, {
      fix: kubectl(home, 'set', 'subject', target, `--serviceaccount=${home}:${name}`),
    }),
  ]
}

async function accountFindings(
  renamed: (meant: string) => string,
  { home, name }: { readonly home: string; readonly name: string },
  cluster: ClusterReader,
): Promise<Finding[]> {
  if (!(await isMissing(cluster, serviceAccount, home, name))) return []
  const known = (await cluster.list(serviceAccount, home)).map(({ metadata }) => metadata.name)
  const similar = similarNames(name, known)
  const [meant] = similar
  return [
    problem(
      `Its subject, the ServiceAccount ${name} of the namespace ${home}, does not exist.${questionSentence(didYouMean(similar))}`,
      {
        fix: meant === undefined ? kubectl(home, 'create', 'serviceaccount', name) : renamed(meant),
      },
    ),
  ]
}
