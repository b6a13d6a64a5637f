// A dialog above the page. The browser keeps the focus in it, closes it with Escape, and returns the focus afterwards.
import { noChange } from 'lit'
import { AsyncDirective } from 'lit/async-directive.js'
import { directive, type ElementPart } from 'lit/directive.js'

class Modal extends AsyncDirective {
  #dialog: HTMLDialogElement | undefined

  render(): typeof noChange {
    return noChange
  }

  override update({ element }: ElementPart): typeof noChange {
    if (this.#dialog === undefined) {
      this.#dialog = element as HTMLDialogElement
      queueMicrotask(() => this.isConnected && this.#dialog?.isConnected && this.#dialog.showModal())
    }
    return noChange
  }

  override disconnected(): void {
    this.#dialog?.close()
  }
}

/** Opens a `<dialog>` as long as it is part of the page. */
export const modal = directive(Modal)
