// The CustomResourceDefinition of GatewayClass.
import {
  ageColumn,
  column,
  conditionColumn,
  conditions,
  controllerName,
  definition,
  group,
  keyedList,
  kindName,
  namespaceName,
  object,
  pendingConditions,
  rule,
  text,
  withRules,
} from './schema-parts.ts'

const spec = object(
  {
    controllerName: withRules(controllerName, rule('Value is immutable', 'self == oldSelf')),
    description: text(64, 0),
    parametersRef: object({ group, kind: kindName, name: text(253), namespace: namespaceName }, [
      'group',
      'kind',
      'name',
    ]),
  },
  ['controllerName'],
)

const status = {
  ...object({
    conditions: { ...conditions, default: pendingConditions('Accepted') },
    supportedFeatures: keyedList(object({ name: { type: 'string' } }, ['name']), 64, 'name'),
  }),
  default: { conditions: pendingConditions('Accepted') },
}

export const gatewayClassDefinition = definition({
  kind: 'GatewayClass',
  plural: 'gatewayclasses',
  shortNames: ['gc'],
  scope: 'Cluster',
  versions: ['v1', 'v1beta1'],
  spec,
  status,
  columns: [
    column('Controller', '.spec.controllerName'),
    conditionColumn('Accepted'),
    ageColumn,
    column('Description', '.spec.description', 'string', 1),
  ],
})
