// The styles of the terminal's library. It creates <style> elements and style attributes, which the content security policy
// blocks. Here the texts of its style elements become constructed style sheets, and its style attributes are set through the
// element's declarations; the policy permits both, because they are changes that a script of the page makes.

/** Runs an action in which the library creates its style elements; disposing of the result removes the sheets. */
export function withConstructedSheets(action: () => void): Disposable {
  const sheets: CSSStyleSheet[] = []
  const create = document.createElement.bind(document)
  const createElement = (name: string): HTMLElement => {
    if (name !== 'style') return create(name)
    const sheet = new CSSStyleSheet()
    sheets.push(sheet)
    return sheetCarrier(create('span'), sheet)
  }
  Object.defineProperty(document, 'createElement', { value: createElement, configurable: true })
  try {
    action()
  } finally {
    Reflect.deleteProperty(document, 'createElement')
  }
  document.adoptedStyleSheets.push(...sheets)
  return {
    [Symbol.dispose]() {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !sheets.includes(sheet))
    },
  }
}

/** An invisible element whose text is the style sheet. */
function sheetCarrier(element: HTMLElement, sheet: CSSStyleSheet): HTMLElement {
  element.hidden = true
  Object.defineProperty(element, 'textContent', {
    set(text: string) {
      sheet.replaceSync(text)
    },
  })
  return element
}

/** The library sets the attribute only for characters with a color of their own, which are spans. */
export function setSpanStylesByDeclaration(): void {
  HTMLSpanElement.prototype.setAttribute = function setAttribute(this: HTMLSpanElement, name, value) {
    if (name === 'style') this.style.cssText = value
    else Element.prototype.setAttribute.call(this, name, value)
  }
}
