// The CustomResourceDefinition of ListenerSet.
import { listeners, listenerStatuses } from './gateway.ts'
import {
  ageColumn,
  conditionColumn,
  conditions,
  definition,
  gatewayGroup,
  group,
  kindName,
  namespaceName,
  object,
  objectName,
  pendingConditions,
} from './schema-parts.ts'

const parentRef = object(
  {
    group: { ...group, default: gatewayGroup },
    kind: { ...kindName, default: 'Gateway' },
    name: objectName,
    namespace: namespaceName,
  },
  ['name'],
)

const pending = pendingConditions('Accepted', 'Programmed')

export const listenerSetDefinition = definition({
  kind: 'ListenerSet',
  plural: 'listenersets',
  shortNames: ['lset'],
  scope: 'Namespaced',
  versions: ['v1'],
  spec: object({ listeners, parentRef }, ['listeners', 'parentRef']),
  status: {
    ...object({ conditions: { ...conditions, default: pending }, listeners: listenerStatuses }),
    default: { conditions: pending },
  },
  columns: [conditionColumn('Accepted'), conditionColumn('Programmed'), ageColumn],
})
