// A terminal in a container: xterm, connected to the streams of an exec. Loaded on first use.
import { Terminal as Screen } from '@xterm/xterm'
import { screenSize } from '../model/screen-size.ts'
import type { Terminal } from '../source/source.ts'
import { setSpanStylesByDeclaration, withConstructedSheets } from './terminal-styles.ts'

export type Connect = (onOutput: (text: string | Uint8Array) => void, onEnd: (reason: string) => void) => Terminal

setSpanStylesByDeclaration()

/** Shows a terminal that has the size of its element; the result closes it. */
export function showTerminal(element: HTMLElement, connect: Connect): () => void {
  const screen = new Screen({ screenReaderMode: true, theme: themeOf(element) })
  const styles = withConstructedSheets(() => screen.open(element))
  const fit = (): void => {
    const drawn = element.querySelector('.xterm-screen')?.getBoundingClientRect()
    if (drawn === undefined) return
    const cell = { widthPx: drawn.width / screen.cols, heightPx: drawn.height / screen.rows }
    const { columns, rows } = screenSize({ widthPx: element.clientWidth, heightPx: element.clientHeight }, cell)
    if (columns !== screen.cols || rows !== screen.rows) screen.resize(columns, rows)
  }
  const terminal = connect(
    (output) => screen.write(output),
    (reason) => {
      screen.options.disableStdin = true
      screen.write(`\r\n[${reason}]\r\n`)
    },
  )
  screen.onData((text) => terminal.write(text))
  screen.onResize(({ cols, rows }) => terminal.resize(cols, rows))
  fit()
  terminal.resize(screen.cols, screen.rows)
  const observer = new ResizeObserver(fit)
  observer.observe(element)
  screen.focus()
  return () => {
    observer.disconnect()
    terminal.close()
    screen.dispose()
    styles[Symbol.dispose]()
  }
}

/** The colors of the page. */
function themeOf(element: HTMLElement): {
  readonly background: string
  readonly foreground: string
  readonly cursor: string
} {
  const { backgroundColor, color } = getComputedStyle(element)
  return { background: backgroundColor, foreground: color, cursor: color }
}
