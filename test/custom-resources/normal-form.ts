// NormalForm: responses without the values that differ in every run. Equal values get equal placeholders, so that an object
// that is not changed by a request is distinguished from one that is.

const uidPattern = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const agePattern = /^(\d+[smhdy])+$/
const timeFields = new Set(['creationTimestamp', 'deletionTimestamp', 'lastTransitionTime', 'time'])

/** Of any object in YAML: a list has the revision of the store. */
/** A cell of a Table in YAML that shows how long ago something was. */
const yamlAgePattern = /^( {2}- )\d{1,3}s$/gm
const yamlVersionPattern = /^( *resourceVersion: )"\d+"$/gm

const generateNameCharsMax = 58

type Fields = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The placeholders of one scenario. */
export class NormalForm {
  /** The index of the exchange: a placeholder names the one in which its value is seen first. */
  exchange = 0
  readonly #uids = new Map<string, string>()
  readonly #versions = new Map<string, string>()
  readonly #generated: RegExp[] = []
  #isDefinition = false

  /** The server appends random characters to this prefix of names, which is cut off if it is long. */
  addGenerateName(prefix: string): void {
    this.#generated.push(
      new RegExp(`\\b(${prefix.slice(0, generateNameCharsMax)})[bcdfghjklmnpqrstvwxz2456789]{5}\\b`, 'g'),
    )
  }

  /** Controllers of the server write definitions, so that their resource versions are not equal in every run. */
  ofDefinition(value: unknown): unknown {
    this.#isDefinition = true
    try {
      return this.of(value)
    } finally {
      this.#isDefinition = false
    }
  }

  of(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (Array.isArray(value)) return value.map((each) => this.of(each))
    if (!isObject(value)) return value
    if (value['kind'] === 'Table') return this.#fields(withoutAges(value))
    return this.#fields(value)
  }

  #fields(object: Fields): Fields {
    const isBookmark = object['type'] === 'BOOKMARK'
    const isList = isBookmark || Array.isArray(object['items']) || Array.isArray(object['rows'])
    // Placeholders do not depend on the order in which a server writes fields.
    const entries = Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(
      entries.map(([key, value]) => {
        if (isBookmark && key === 'object') return [key, this.#listed(value as Fields)]
        if (isList && key === 'metadata') return [key, this.#listMetadata(value as Fields)]
        return [key, this.#field(key, value)]
      }),
    )
  }

  #field(key: string, value: unknown): unknown {
    if (key === 'managedFields' && Array.isArray(value))
      // Upstream orders entries by second first, so that the order depends on when requests were sent.
      return value.map((entry) => this.of(entry)).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    if (typeof value !== 'string') return this.of(value)
    if (timeFields.has(key) && timePattern.test(value)) return '<time>'
    if (key === 'resourceVersion' && /^\d+$/.test(value)) return this.#version(value)
    return this.#text(value)
  }

  /** A bookmark has the revision of the store. */
  #listed(object: Fields): Fields {
    const metadata = object['metadata']
    return { ...this.#fields(object), ...(isObject(metadata) ? { metadata: this.#listMetadata(metadata) } : {}) }
  }

  /** A list has the revision of the store, which other writes advance. */
  #listMetadata(metadata: Fields): Fields {
    const { resourceVersion, continue: token } = metadata
    return {
      ...this.#fields(metadata),
      ...(resourceVersion === undefined ? {} : { resourceVersion: '<revision>' }),
      ...(typeof token === 'string' && token !== '' ? { continue: '<token>' } : {}),
    }
  }

  #version(value: string): string {
    return this.#isDefinition ? '<version>' : this.#placeholder(this.#versions, value, 'version')
  }

  #placeholder(known: Map<string, string>, value: string, word: string): string {
    const prefix = `<${word} ${this.exchange}.`
    const count = [...known.values()].filter((each) => each.startsWith(prefix)).length
    const found = known.get(value) ?? `${prefix}${count + 1}>`
    known.set(value, found)
    return found
  }

  #text(text: string): string {
    let named = text
    for (const pattern of this.#generated) named = named.replaceAll(pattern, '$1<random>')
    return named
      .replaceAll(uidPattern, (uid) => this.#placeholder(this.#uids, uid, 'uid'))
      .replaceAll(/(resource ?version[^\d]{0,40}\b)(\d+)/gi, (_, before: string, value: string) =>
        this.#versions.has(value) ? `${before}${this.#version(value)}` : `${before}${value}`,
      )
      .replaceAll(yamlAgePattern, '$1<age>')
      .replaceAll(yamlVersionPattern, '$1"<revision>"')
      .replaceAll(/(too old resource version: \d+ )\(\d+\)/g, '$1(<revision>)')
      .replaceAll(/\bselfType\d+/g, 'selfType<number>')
      .replaceAll(/\b(20(?:2[6-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\dZ)/g, '<time>')
  }
}

/** Descriptions of the columns that every kind has: their wording is each server's own. */
const ownDescriptions =
  /^(Name must be unique within a namespace\.|CreationTimestamp is a timestamp|The name of the object\.|The time at which)/

/** Cells of dates show how long ago that was. */
function withoutAges(table: Fields): Fields {
  const columns = (table['columnDefinitions'] ?? []) as readonly Readonly<Record<string, string>>[]
  const rows = (table['rows'] ?? []) as readonly { readonly cells: readonly unknown[] }[]
  const shown = (cell: unknown, index: number): unknown => {
    const column = columns[index]
    const isDate = column?.['type'] === 'date' || column?.['name'] === 'Age' || column?.['name'] === 'Created At'
    return isDate && typeof cell === 'string' && agePattern.test(cell) ? '<age>' : cell
  }
  const described = columns.map((column) =>
    ownDescriptions.test(column['description'] ?? '') ? { ...column, description: '' } : column,
  )
  return {
    ...table,
    ...(table['columnDefinitions'] ? { columnDefinitions: described } : {}),
    rows: rows.map((row) => ({ ...row, cells: row.cells.map(shown) })),
  }
}
