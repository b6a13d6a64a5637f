// Shows the editor in an element. Its library is loaded on first use.
import { noChange } from 'lit'
import { AsyncDirective } from 'lit/async-directive.js'
import { directive, type ElementPart } from 'lit/directive.js'
import type { FieldError } from '../../model/editing/field-places.ts'
import type { EditorDeps, ShownEditor } from './yaml-editor.ts'

export interface EditorOptions extends EditorDeps {
  readonly errors: readonly FieldError[]
  readonly failed: (error: Error) => void
  readonly hasFocus?: boolean
}

class EditorDirective extends AsyncDirective {
  #options: EditorOptions | undefined
  #shown: ShownEditor | undefined
  #isOpen = false
  #errors: readonly FieldError[] = []

  render(_options: EditorOptions): typeof noChange {
    return noChange
  }

  override update({ element }: ElementPart, [options]: [EditorOptions]): typeof noChange {
    this.#options = options
    if (!this.#isOpen) {
      this.#isOpen = true
      void this.#open(element as HTMLElement).catch(options.failed)
    }
    this.#follow(options)
    return noChange
  }

  override disconnected(): void {
    this.#isOpen = false
    this.#shown?.close()
    this.#shown = undefined
  }

  async #open(element: HTMLElement): Promise<void> {
    const { showEditor } = await import('./yaml-editor.ts')
    const options = this.#options
    if (!this.#isOpen || this.#shown !== undefined || options === undefined) return
    this.#shown = showEditor(element, { ...options, onChange: (text) => this.#options?.onChange(text) })
    this.#errors = []
    this.#follow(options)
    if (options.hasFocus === true) this.#shown.focus()
  }

  #follow({ text, errors }: EditorOptions): void {
    if (this.#shown === undefined) return
    this.#shown.setText(text)
    if (errors === this.#errors) return
    this.#errors = errors
    this.#shown.setErrors(errors)
  }
}

export const yamlEditor = directive(EditorDirective)
