// The CustomResourceDefinition of ReferenceGrant. It is stored as v1beta1, which earlier releases have alone.
import {
  ageColumn,
  atomicList,
  definition,
  group,
  kindName,
  namespaceName,
  object,
  objectName,
  type Schema,
} from './schema-parts.ts'

const oneToSixteen = (items: Schema): Schema => ({ ...atomicList(items, 16), minItems: 1 })

export const referenceGrantDefinition = definition({
  kind: 'ReferenceGrant',
  plural: 'referencegrants',
  shortNames: ['refgrant'],
  scope: 'Namespaced',
  versions: ['v1beta1', 'v1'],
  spec: object(
    {
      from: oneToSixteen(object({ group, kind: kindName, namespace: namespaceName }, ['group', 'kind', 'namespace'])),
      to: oneToSixteen(object({ group, kind: kindName, name: objectName }, ['group', 'kind'])),
    },
    ['from', 'to'],
  ),
  columns: [ageColumn],
})
