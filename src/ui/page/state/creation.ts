// Creating objects from YAML, which a form may write. Every document is sent as a dry run first; then they are created by server-side apply, in their order. An
// object that exists already is changed, which the dry run says before.
import type { FieldError } from '../model/editing/field-places.ts'
import { formOf, startValues, textOfForm } from '../model/forms/creation-forms.ts'
import type { FormValues } from '../model/forms/form-values.ts'
import type { Manifest } from '../model/editing/manifests.ts'
import { RequestError } from '../source/requests.ts'
import type { Resource, Source } from '../source/source.ts'

/** Objects of one text. */
const manifestsMax = 100
/** How often the kinds are read until a new one is among them, and the time in between. */
const kindReadsMax = 20
const kindReadMs = 250
const defaultNamespace = 'default'

/** What has become of a document, or of a dry run of it. `waits`: it needs what another document creates. */
export type Outcome = 'created' | 'changed' | 'waits' | 'failed'

export interface CreationResult {
  readonly kind: string
  readonly name: string
  /** Empty for objects without one. */
  readonly namespace: string
  /** Undefined if the kind is not known. */
  readonly resource: Resource | undefined
  readonly outcome: Outcome
  readonly message: string
}

/** The form that writes the text. */
export interface ShownForm {
  /** The resource that it is for. */
  readonly id: string
  readonly values: FormValues
}

export interface Draft {
  readonly text: string
  /** Undefined if the text is typed. */
  readonly form: ShownForm | undefined
  readonly results: readonly CreationResult[]
  readonly errors: readonly FieldError[]
  /** Whether the results are those of a dry run of this text, or of its creation; undefined while there are none. */
  readonly step: 'checked' | 'created' | undefined
  readonly isRunning: boolean
}

export interface CreationDeps {
  readonly source: Pick<Source, 'actions'>
  readonly resources: () => readonly Resource[]
  readonly readResources: () => Promise<void>
  /** The namespace of objects that name none; empty if the page shows all. */
  readonly namespace: () => string
  readonly manifestsIn: (text: string) => Promise<readonly Manifest[]>
  /** Kinds have been defined. */
  readonly kindsChanged: () => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly changed: () => void
}

export class Creation {
  draft: Draft | undefined
  readonly #deps: CreationDeps
  #template = ''
  #running = new AbortController()

  constructor(deps: CreationDeps) {
    this.#deps = deps
  }

  /** Begins with the form of a resource, or with a template if it has none. What was typed before is kept. */
  open(template: string, id = ''): void {
    if (this.draft === undefined || this.draft.text === this.#template) {
      this.type(template)
      if (formOf(id) !== undefined) this.useForm(id)
    }
    this.#template = this.draft?.text ?? template
  }

  /** Shows the text that a user has typed, which no form changes any more. */
  type(text: string): void {
    this.#show(text, undefined)
  }

  /** Begins with an empty form, which replaces the text; without an id the text is typed. */
  useForm(id: string): void {
    const form = formOf(id)
    if (form === undefined) return this.type(this.draft?.text ?? '')
    const values = startValues(form, this.#deps.namespace() || defaultNamespace)
    this.#show(textOfForm(form, values), { id, values })
  }

  /** Fills a field of the form. */
  fill(name: string, value: string): void {
    const { form: shown } = this.draft ?? {}
    const form = formOf(shown?.id ?? '')
    if (form === undefined || shown === undefined) return
    const values = new Map(shown.values).set(name, value)
    this.#show(textOfForm(form, values), { id: form.id, values })
  }

  #show(text: string, form: ShownForm | undefined): void {
    this.#running.abort()
    this.draft = { text, form, results: [], errors: [], step: undefined, isRunning: false }
    this.#deps.changed()
  }

  close(): void {
    this.#running.abort()
    this.draft = undefined
    this.#deps.changed()
  }

  /** Whether the dry run has succeeded, as far as one is possible. */
  get canCreate(): boolean {
    const { draft } = this
    return draft?.step === 'checked' && !draft.isRunning && draft.results.every(({ outcome }) => outcome !== 'failed')
  }

  check(): Promise<void> {
    return this.#run(true)
  }

  async create(): Promise<void> {
    if (this.canCreate) await this.#run(false)
  }

  async #run(isDryRun: boolean): Promise<void> {
    const { draft } = this
    if (draft === undefined || draft.isRunning) return
    this.#running = new AbortController()
    const { signal } = this.#running
    const show = (change: Partial<Draft>): void => {
      if (signal.aborted || this.draft === undefined) return
      this.draft = { ...this.draft, ...change }
      this.#deps.changed()
    }
    show({ isRunning: true, results: [], errors: [], step: undefined })
    try {
      const manifests = await this.#deps.manifestsIn(draft.text)
      if (manifests.length === 0) throw new Error('There is no object in the text, or it is too long.')
      if (manifests.length > manifestsMax) throw new Error(`There are more than ${manifestsMax} objects in the text.`)
      const errors: FieldError[] = []
      for (const [at, manifest] of manifests.entries()) {
        const result = await this.#send(manifest, manifests.slice(0, at), isDryRun, errors, signal)
        if (signal.aborted) return
        show({ results: [...(this.draft?.results ?? []), result] })
      }
      show({ errors, step: isDryRun ? 'checked' : 'created' })
    } finally {
      show({ isRunning: false })
    }
  }

  /** Sends a document; adds the fields that the server rejects. */
  async #send(
    manifest: Manifest,
    before: readonly Manifest[],
    isDryRun: boolean,
    errors: FieldError[],
    signal: AbortSignal,
  ): Promise<CreationResult> {
    const { kind, name, document, problem } = manifest
    const needsKind = before.some(({ defines }) => defines.kind === kind && defines.group === groupOf(manifest))
    const resource = await this.#resourceOf(manifest, needsKind && !isDryRun, signal)
    const namespace =
      resource?.isNamespaced === true ? manifest.namespace || this.#deps.namespace() || defaultNamespace : ''
    const result = (outcome: Outcome, message: string): CreationResult => ({
      ...{ kind: kind || 'Document', name: name || String(document + 1), namespace, resource, outcome, message },
    })
    if (problem !== undefined) return result('failed', problem)
    if (resource === undefined && needsKind && isDryRun) return result('waits', 'It is checked when its kind exists.')
    const { actions } = this.#deps.source
    if (resource === undefined || actions === undefined)
      return result('failed', `There is no kind ${kind} in ${manifest.apiVersion}.`)
    try {
      const object = { resource: resource.plural, namespace, name }
      const { isCreated } = await actions.apply(resource, object, manifest.text, { isDryRun, isForced: false })
      if (!isDryRun && manifest.defines.kind !== '') this.#deps.kindsChanged()
      if (isCreated) return result('created', isDryRun ? 'would be created' : 'is created')
      return result('changed', isDryRun ? 'exists, and would be changed' : 'is changed')
    } catch (error) {
      const needsNamespace = before.some((each) => each.kind === 'Namespace' && each.name === namespace)
      if (isDryRun && needsNamespace && error instanceof RequestError && error.code === 404)
        return result('waits', 'It is checked when its namespace exists.')
      if (error instanceof RequestError) errors.push(...error.fields.map((field) => ({ ...field, document })))
      return result('failed', error instanceof Error ? error.message : String(error))
    }
  }

  /** A kind that has just been defined is served after a moment. */
  async #resourceOf(manifest: Manifest, isExpected: boolean, signal: AbortSignal): Promise<Resource | undefined> {
    const { resources, readResources, sleep } = this.#deps
    const find = (): Resource | undefined =>
      resources().find(
        (each) =>
          each.kind === manifest.kind && each.group === groupOf(manifest) && each.version === versionOf(manifest),
      )
    const readsMax = isExpected ? kindReadsMax : 0
    for (let reads = 0; find() === undefined && reads < readsMax; reads++) {
      if (reads > 0) await sleep(kindReadMs, signal)
      await readResources()
    }
    return find()
  }
}

const groupOf = ({ apiVersion }: Manifest): string =>
  apiVersion.includes('/') ? (apiVersion.split('/', 1)[0] ?? '') : ''
const versionOf = ({ apiVersion }: Manifest): string => apiVersion.slice(apiVersion.indexOf('/') + 1)
