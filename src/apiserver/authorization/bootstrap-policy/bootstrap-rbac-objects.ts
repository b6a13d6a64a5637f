// The default roles and bindings as bootstrap objects. At each start, missing rules and subjects are added to existing
// objects unless their autoupdate annotation is false; additions of users are preserved.
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { clusterRoleBinding } from '../../../api/rbac/v1/cluster-role-binding.ts'
import { clusterRole, type ClusterRole } from '../../../api/rbac/v1/cluster-role.ts'
import { roleBinding } from '../../../api/rbac/v1/role-binding.ts'
import { role } from '../../../api/rbac/v1/role.ts'
import type { Subject } from '../../../api/rbac/v1/policy-rule.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import type { BootstrapObject, ObjectManifest } from '../../bootstrap/bootstrap-object.ts'
import type { Binding } from '../rbac/grants.ts'
import { uncoveredRules } from '../rbac/rule-coverage.ts'
import { RuleTable } from '../rbac/rule-table.ts'
import { defaultRbacObjects, coxswainRbacObjects } from './default-rbac-objects.ts'

const updateAnnotation = 'rbac.authorization.kubernetes.io/autoupdate'

type RoleLike = ApiObject & Pick<ClusterRole, 'rules' | 'aggregationRule'>

const bootstrapObjectsOf = <T extends ApiObject>(
  kind: Kind,
  objects: readonly ObjectManifest<T>[],
  update: (current: T, wanted: ObjectManifest<T>) => T,
): BootstrapObject[] =>
  objects.map((wanted) => ({
    kind,
    object: wanted as ObjectManifest,
    update(current) {
      if (current.metadata.annotations?.[updateAnnotation] === 'false') return undefined
      const updated = withMetadata(update(current as T, wanted), wanted)
      return equalValues(updated, current) ? undefined : updated
    },
  }))

/** Removed labels and annotations are added again; changed ones are preserved. */
function withMetadata<T extends ApiObject>(current: T, wanted: ObjectManifest): T {
  const labels = { ...wanted.metadata.labels, ...current.metadata.labels }
  const annotations = { ...wanted.metadata.annotations, ...current.metadata.annotations }
  return { ...current, metadata: { ...current.metadata, labels, annotations } }
}

export function updatedRole<T extends RoleLike>(current: T, wanted: ObjectManifest<RoleLike>): T {
  const owned = current.rules ?? []
  const due = wanted.rules ?? []
  const rules = equalValues(owned, due) ? owned : [...owned, ...uncoveredRules(new RuleTable(owned), due)]
  const present = current.aggregationRule?.clusterRoleSelectors ?? []
  const selectors = (wanted.aggregationRule?.clusterRoleSelectors ?? []).filter(
    (selector) => !present.some((known) => equalValues(known, selector)),
  )
  return {
    ...current,
    rules,
    ...(selectors.length === 0 ? {} : { aggregationRule: { clusterRoleSelectors: [...present, ...selectors] } }),
  }
}

export function updatedBinding<T extends Binding>(current: T, wanted: ObjectManifest<Binding>): T {
  const present = current.subjects ?? []
  const isSame = (a: Subject, b: Subject) =>
    a.kind === b.kind && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '')
  const missing = (wanted.subjects ?? []).filter((subject) => !present.some((known) => isSame(known, subject)))
  const subjects = [...present, ...missing]
  return { ...current, roleRef: wanted.roleRef, ...(subjects.length === 0 ? {} : { subjects }) }
}

const { clusterRoles, clusterRoleBindings, roles, roleBindings } = defaultRbacObjects

export const bootstrapRbacObjects: readonly BootstrapObject[] = [
  ...bootstrapObjectsOf(clusterRole, [...clusterRoles, ...coxswainRbacObjects.clusterRoles], updatedRole),
  ...bootstrapObjectsOf(
    clusterRoleBinding,
    [...clusterRoleBindings, ...coxswainRbacObjects.clusterRoleBindings],
    updatedBinding,
  ),
  ...bootstrapObjectsOf(role, roles, updatedRole),
  ...bootstrapObjectsOf(roleBinding, roleBindings, updatedBinding),
]
