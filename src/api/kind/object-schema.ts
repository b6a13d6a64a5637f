// ObjectSchema: what the API server does with the objects of a kind according to its schema. Built-in kinds derive it from
// their message, custom kinds from the schema in their definition.
import { structureOf, type StructStructure } from '../../schema/apply/structure.ts'
import { decode, type Decoded } from '../../schema/decoding/decode.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'
import type { Message } from '../../schema/descriptor/field.ts'
import type { FieldError } from '../../schema/validation/field-error.ts'
import { validateFields } from '../../schema/validation/validate.ts'

export interface ObjectSchema {
  /** The object in a body, without fields that the schema does not have. Throws a DecodeError. */
  decode(body: unknown): Decoded
  /** Fills in the defaults of the schema. `keepsNull`: a null that is not allowed stays where there is no default. */
  withDefaults<T extends object>(object: T, keepsNull?: boolean): T
  /** The status of a new object, from its initial one; undefined where it has none until one is written. */
  newStatus(initial: unknown): unknown
  /** The constraints on single fields. */
  validateFields(object: object): readonly FieldError[]
  /** What server-side apply needs. */
  readonly structure: StructStructure
}

export const messageSchema = (message: Message): ObjectSchema => ({
  decode: (body) => decode(message, body),
  withDefaults: (object) => withDefaults(message, object),
  newStatus: (initial) => (withDefaults(message, { status: initial ?? {} }) as { readonly status?: unknown }).status,
  validateFields: (object) => validateFields(message, object),
  get structure() {
    return structureOf(message)
  },
})
