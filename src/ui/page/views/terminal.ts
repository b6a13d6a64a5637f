// A terminal in a container: xterm, connected to the streams of an exec. Loaded on first use.
import { Terminal as Screen } from '@xterm/xterm'
import type { Terminal } from '../source/source.ts'

type Connect = (onOutput: (text: string | Uint8Array) => void, onEnd: (reason: string) => void) => Terminal

const [columns, rows] = [100, 28]

export function showTerminal(element: HTMLElement, connect: Connect): void {
  const screen = new Screen({ cols: columns, rows, screenReaderMode: true, convertEol: true })
  screen.open(element)
  const terminal = connect(
    (output) => screen.write(output),
    (reason) => screen.write(`\r\n[${reason}]\r\n`),
  )
  screen.onData((text) => terminal.write(text))
  screen.onResize((size) => terminal.resize(size.cols, size.rows))
  screen.focus()
}
