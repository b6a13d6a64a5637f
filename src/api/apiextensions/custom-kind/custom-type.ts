// The types of custom objects in expressions of policies: those of the schema, with the metadata that every object has.
import { structuralType } from '../../../cel/types/structural-type.ts'
import { messageType } from '../../../cel/types/message-type.ts'
import { dynType, type CelType, type ObjectField } from '../../../cel/types/cel-type.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'
import type { TypedKind } from '../../admissionregistration/v1/type-checking.ts'
import type { CustomResourceDefinition } from '../v1/custom-resource-definition.ts'
import type { CustomResourceDefinitionVersion } from '../v1/custom-resource-definition-spec.ts'

/** The served versions of a definition, for the type checking of policies. */
export const customTypedKinds = ({ spec }: CustomResourceDefinition): readonly TypedKind[] =>
  (spec.versions ?? [])
    .filter(({ served }) => served)
    .map((version) => ({
      group: spec.group,
      version: version.name,
      kind: spec.names.kind,
      plural: spec.names.plural,
      objectType: () => objectTypeOf(version, spec.names.kind),
    }))

function objectTypeOf({ schema }: CustomResourceDefinitionVersion, name: string): CelType {
  const { type } = structuralType(schema?.openAPIV3Schema ?? {}, name, true) ?? {}
  if (type?.kind !== 'object') return dynType
  const metadata: ObjectField = { type: messageType(objectMeta), jsonName: 'metadata' }
  return { ...type, fields: new Map([...type.fields, ['metadata', metadata]]) }
}
