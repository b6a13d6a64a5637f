// Rules of bindings: their role and their subjects, with defaults and columns.
import { invalid, notSupported, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { column, type Column } from '../../kind/kind.ts'
import { dnsSubdomainErrors, pathSegmentErrors } from '../../validation/names.ts'
import type { ApiObject } from '../../meta/object.ts'
import { rbacGroup, type RoleRef, type Subject } from './policy-rule.ts'

interface Binding extends ApiObject {
  readonly roleRef: RoleRef
  readonly subjects?: readonly Subject[]
}

/** Users and groups belong to the RBAC group, service accounts to the core group. */
export const withSubjectDefaults = <T extends Binding>(binding: T): T =>
  binding.subjects === undefined
    ? binding
    : {
        ...binding,
        subjects: binding.subjects.map((subject) =>
          !subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')
            ? { ...subject, apiGroup: rbacGroup }
            : subject,
        ),
      }

/** A RoleBinding may refer to both kinds of role, and omit the namespace of its service accounts. */
export const validateBinding = (
  { roleRef, subjects = [] }: Binding,
  { roles, scope }: { roles: readonly string[]; scope: 'cluster' | 'namespace' },
): FieldError[] => [
  ...validateRoleRef(roleRef, roles),
  ...subjects.flatMap((subject, index) => validateSubject(subject, `subjects[${index}]`, scope)),
]

function validateRoleRef({ apiGroup, kind, name }: RoleRef, roles: readonly string[]): FieldError[] {
  const errors: FieldError[] = []
  if (apiGroup !== rbacGroup) errors.push(notSupported('roleRef.apiGroup', apiGroup, [rbacGroup]))
  if (!roles.includes(kind)) errors.push(notSupported('roleRef.kind', kind ?? '', roles))
  if (!name) errors.push(required('roleRef.name'))
  else for (const detail of pathSegmentErrors(name)) errors.push(invalid('roleRef.name', name, detail))
  return errors
}

function validateSubject(subject: Subject, path: string, scope: 'cluster' | 'namespace'): FieldError[] {
  const { kind, name, namespace, apiGroup = '' } = subject
  const errors = name ? [] : [required(`${path}.name`)]
  switch (kind) {
    case 'ServiceAccount':
      if (name) for (const detail of dnsSubdomainErrors(name)) errors.push(invalid(`${path}.name`, name, detail))
      if (scope === 'cluster' && !namespace) errors.push(required(`${path}.namespace`))
      if (apiGroup !== '') errors.push(notSupported(`${path}.apiGroup`, apiGroup, ['']))
      break
    case 'User':
    case 'Group':
      if (apiGroup !== rbacGroup) errors.push(notSupported(`${path}.apiGroup`, apiGroup, [rbacGroup]))
      break
    default:
      errors.push(notSupported(`${path}.kind`, kind ?? '', ['ServiceAccount', 'User', 'Group']))
  }
  return errors
}

export const validateBindingUpdate = (binding: Binding, old: Binding): FieldError[] =>
  equalValues(binding.roleRef, old.roleRef) ? [] : [invalid('roleRef', binding.roleRef, 'cannot change roleRef')]

export const bindingColumns: readonly Column<Binding>[] = [
  column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
  column('Role', ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`),
  column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  column('Users', (binding) => subjectNames(binding, 'User'), { priority: 1 }),
  column('Groups', (binding) => subjectNames(binding, 'Group'), { priority: 1 }),
  column('ServiceAccounts', (binding) => subjectNames(binding, 'ServiceAccount'), { priority: 1 }),
]

const subjectNames = ({ subjects = [] }: Binding, kind: string): string =>
  subjects
    .filter((subject) => subject.kind === kind)
    .map(({ name, namespace = '' }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
    .join(', ')
