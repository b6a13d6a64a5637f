// FlowSchemaSpec and its status: subjects, rules, and the priority level that they lead to.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, int32, list, message, string, struct, time } from '../../../schema/descriptor/field.ts'

export const flowDistinguisherMethod = message('io.k8s.api.flowcontrol.v1.FlowDistinguisherMethod', {
  type: string(1, {
    required: true,
    description: 'ByUser or ByNamespace: requests with the same value belong to one flow.',
  }),
})
export interface FlowDistinguisherMethod extends Infer<typeof flowDistinguisherMethod> {}

export const priorityLevelConfigurationReference = message(
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationReference',
  {
    name: string(1, { required: true, description: 'The name of the priority level.' }),
  },
)
export interface PriorityLevelConfigurationReference extends Infer<typeof priorityLevelConfigurationReference> {}

export const nonResourcePolicyRule = message('io.k8s.api.flowcontrol.v1.NonResourcePolicyRule', {
  verbs: list(1, 'string', { required: true, listType: 'set', description: 'The verbs; * for all.' }),
  nonResourceURLs: list(6, 'string', {
    required: true,
    listType: 'set',
    description: 'The paths, which may end with *.',
  }),
})
export interface NonResourcePolicyRule extends Infer<typeof nonResourcePolicyRule> {}

export const resourcePolicyRule = message('io.k8s.api.flowcontrol.v1.ResourcePolicyRule', {
  verbs: list(1, 'string', { required: true, listType: 'set', description: 'The verbs; * for all.' }),
  apiGroups: list(2, 'string', { required: true, listType: 'set', description: 'The API groups; * for all.' }),
  resources: list(3, 'string', {
    required: true,
    listType: 'set',
    description: 'The resources in the plural; * for all.',
  }),
  clusterScope: bool(4, { description: 'Whether requests without a namespace match; false by default.' }),
  namespaces: list(5, 'string', { keepEmpty: true, listType: 'set', description: 'The namespaces; * for all.' }),
})
export interface ResourcePolicyRule extends Infer<typeof resourcePolicyRule> {}

export const groupSubject = message('io.k8s.api.flowcontrol.v1.GroupSubject', {
  name: string(1, { required: true, description: 'The name of the group; * for all.' }),
})
export interface GroupSubject extends Infer<typeof groupSubject> {}

export const serviceAccountSubject = message('io.k8s.api.flowcontrol.v1.ServiceAccountSubject', {
  namespace: string(1, { required: true, description: 'The namespace of the ServiceAccount.' }),
  name: string(2, { required: true, description: 'The name of the ServiceAccount; * for all.' }),
})
export interface ServiceAccountSubject extends Infer<typeof serviceAccountSubject> {}

export const userSubject = message('io.k8s.api.flowcontrol.v1.UserSubject', {
  name: string(1, { required: true, description: 'The name of the user; * for all.' }),
})
export interface UserSubject extends Infer<typeof userSubject> {}

export const subject = message('io.k8s.api.flowcontrol.v1.Subject', {
  kind: string(1, { required: true, description: 'User, Group or ServiceAccount.' }),
  user: struct(2, userSubject, { pointer: true, description: 'The user.' }),
  group: struct(3, groupSubject, { pointer: true, description: 'The group.' }),
  serviceAccount: struct(4, serviceAccountSubject, { pointer: true, description: 'The ServiceAccount.' }),
})
export interface Subject extends Infer<typeof subject> {}

export const policyRulesWithSubjects = message('io.k8s.api.flowcontrol.v1.PolicyRulesWithSubjects', {
  subjects: list(1, subject, { required: true, listType: 'atomic', description: 'Whose requests match.' }),
  resourceRules: list(2, resourcePolicyRule, {
    listType: 'atomic',
    description: 'The requests for resources that match.',
  }),
  nonResourceRules: list(3, nonResourcePolicyRule, {
    listType: 'atomic',
    description: 'The requests for other paths that match.',
  }),
})
export interface PolicyRulesWithSubjects extends Infer<typeof policyRulesWithSubjects> {}

export const flowSchemaSpec = message('io.k8s.api.flowcontrol.v1.FlowSchemaSpec', {
  priorityLevelConfiguration: struct(1, priorityLevelConfigurationReference, {
    required: true,
    description: 'The priority level of its requests.',
  }),
  matchingPrecedence: int32(2, {
    keepEmpty: true,
    default: 1000,
    description: 'Schemas with lower numbers are tried first; 1000 by default.',
  }),
  distinguisherMethod: struct(3, flowDistinguisherMethod, {
    pointer: true,
    description: 'Whether flows are distinguished by user or by namespace.',
  }),
  rules: list(4, policyRulesWithSubjects, { listType: 'atomic', description: 'The requests that it matches.' }),
})
export interface FlowSchemaSpec extends Infer<typeof flowSchemaSpec> {}

export const flowSchemaCondition = message('io.k8s.api.flowcontrol.v1.FlowSchemaCondition', {
  type: string(1, { description: 'The name of the condition.' }),
  status: string(2, { description: 'True, False or Unknown.' }),
  lastTransitionTime: time(3, { description: 'When the status changed last.' }),
  reason: string(4, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(5, { description: 'A sentence for people about the last transition.' }),
})
export interface FlowSchemaCondition extends Infer<typeof flowSchemaCondition> {}

export const flowSchemaStatus = message('io.k8s.api.flowcontrol.v1.FlowSchemaStatus', {
  conditions: list(1, flowSchemaCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'Its state.',
  }),
})
export interface FlowSchemaStatus extends Infer<typeof flowSchemaStatus> {}
