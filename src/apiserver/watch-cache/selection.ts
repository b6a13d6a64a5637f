// Selection: the objects of a kind that a list or a watch selects by namespace, labels and fields.
import { lookup } from '../../base/collections/lookup.ts'
import { parseFieldSelector } from '../../api/selectors/field-selector-text.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { parseLabelSelector } from '../../api/selectors/label-selector-text.ts'
import { namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import { compiledFields, compiledLabels, type LabelsPredicate } from '../../api/selectors/compiled-selector.ts'
import type { Selector } from '../../api/selectors/selectors.ts'
import { badRequest } from '../../api/errors/status-error.ts'

export class Selection {
  readonly kind: Kind
  readonly namespace: string
  readonly labels: Selector
  readonly fields: Selector
  /** The length of both texts. */
  readonly selectorChars: number
  readonly #matchesLabels: LabelsPredicate
  readonly #matchesFields: ReturnType<typeof compiledFields>

  /** `names`: the names of fields in the stored version, where the request uses another version. */
  constructor(
    kind: Kind,
    namespace: string,
    labelText: string,
    fieldText: string,
    names?: Readonly<Record<string, string>>,
  ) {
    this.kind = kind
    this.namespace = namespace
    this.selectorChars = labelText.length + fieldText.length
    this.labels = labelText === '' ? [] : parseLabelSelector(labelText)
    const asked = fieldText === '' ? [] : parseFieldSelector(fieldText)
    this.fields = asked.map((requirement) => {
      const { key } = requirement
      if (key === 'metadata.name' || key === 'metadata.namespace') return requirement
      const kept = names === undefined ? key : lookup(names, key)
      if (kept === undefined || lookup(kind.fieldLabels, kept) === undefined) throw badRequest(unknownField(kind, key))
      return { ...requirement, key: kept }
    })
    this.#matchesLabels = compiledLabels(this.labels)
    this.#matchesFields = compiledFields(this.fields)
  }

  /** The selection by namespace and name only, which are the same in every version of an object. */
  byNameOnly(): Selection {
    const { exactName } = this
    return new Selection(this.kind, this.namespace, '', exactName === undefined ? '' : `metadata.name=${exactName}`)
  }

  /** The only name that can match, where the fields select one: a list becomes a lookup. */
  get exactName(): string | undefined {
    return this.fields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')?.values[0]
  }

  /** Whether labels or fields restrict the selection. */
  get isFiltered(): boolean {
    return this.labels.length > 0 || this.fields.length > 0
  }

  /** The first field of the kind that must equal a value. Watchers are indexed by it. */
  get exactField(): { readonly key: string; readonly value: string } | undefined {
    const field = this.fields.find(
      ({ key, operator }) => operator === 'In' && lookup(this.kind.fieldLabels, key) !== undefined,
    )
    return field === undefined ? undefined : { key: field.key, value: field.values[0] ?? '' }
  }

  matches(object: ApiObject): boolean {
    if (this.namespace !== '' && namespaceOf(object) !== this.namespace) return false
    if (this.labels.length > 0 && !this.#matchesLabels(object.metadata.labels)) return false
    return this.fields.length === 0 || this.#matchesFields((key) => this.#fieldOf(object, key))
  }

  #fieldOf(object: ApiObject, key: string): string {
    if (key === 'metadata.name') return object.metadata.name
    return key === 'metadata.namespace' ? namespaceOf(object) : (lookup(this.kind.fieldLabels, key)?.(object) ?? '')
  }
}

/** As upstream: the message depends on whether the kind supports fields of its own. */
const unknownField = ({ fieldLabels }: Kind, key: string): string =>
  Object.keys(fieldLabels).length > 0
    ? `field label not supported: ${key}`
    : `${JSON.stringify(key)} is not a known field selector: only "metadata.name", "metadata.namespace"`
