// The CustomResourceDefinition of ReferenceGrant. The standard channel of this release has it as v1beta1.
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
  versions: ['v1beta1'],
  spec: object(
    {
      from: oneToSixteen(object({ group, kind: kindName, namespace: namespaceName }, ['group', 'kind', 'namespace'])),
      to: oneToSixteen(object({ group, kind: kindName, name: objectName }, ['group', 'kind'])),
    },
    ['from', 'to'],
  ),
  columns: [ageColumn],
})
