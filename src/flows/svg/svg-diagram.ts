// A sequence diagram as SVG text: for files, and for copying from the page. The same messages give the same text.
import type { Arrow } from '../../base/observability/flow-recorder.ts'
import type { DrawnMessage } from './drawn-message.ts'
import {
  arrowPaths,
  fontPx,
  headerPx,
  lineKind,
  sequenceLayout,
  textLinePx,
  type LayoutOptions,
  type Lifeline,
  type Row,
} from './sequence-layout.ts'

export type Theme = 'light' | 'dark'

export interface SvgOptions extends LayoutOptions {
  readonly title: string
  /** By default the colors follow the viewer's preference. */
  readonly theme?: Theme
}

export interface DiagramPalette extends Readonly<Record<Arrow | 'inferred', string>> {
  readonly background: string
  readonly text: string
  readonly dim: string
  readonly box: string
  readonly failure: string
}

/** Texts have a contrast of at least 4.5:1 with the background. */
export const palettes: Readonly<Record<Theme, DiagramPalette>> = {
  light: {
    background: '#ffffff',
    text: '#1c2128',
    dim: '#59636e',
    box: '#eef1f4',
    failure: '#c1121f',
    call: '#0b5cad',
    watch: '#1a7f37',
    persist: '#9a6700',
    reconcile: '#8250df',
    step: '#59636e',
    inferred: '#0b5cad',
  },
  dark: {
    background: '#0d1117',
    text: '#e6edf3',
    dim: '#9198a1',
    box: '#21262d',
    failure: '#ff7b72',
    call: '#79c0ff',
    watch: '#56d364',
    persist: '#e3b341',
    reconcile: '#d2a8ff',
    step: '#9198a1',
    inferred: '#79c0ff',
  },
}

export const lineStyles: Readonly<Record<Arrow | 'inferred', string>> = {
  call: '',
  watch: '6 4',
  persist: '',
  reconcile: '2 3',
  step: '2 3',
  inferred: '9 3 2 3',
}

export function svgDiagram(messages: readonly DrawnMessage[], options: SvgOptions): string {
  const { widthPx, heightPx, lifelines, rows } = sequenceLayout(messages, options)
  const { title, theme } = options
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${widthPx}" height="${heightPx}" viewBox="0 0 ${widthPx} ${heightPx}" font-family="system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif" font-size="${fontPx}" role="img">`,
    `<title>${xmlText(title)}</title>`,
    `<style>${styleText(theme)}</style>`,
    `<rect class="bg" width="100%" height="100%"/>`,
    ...lifelines.map((lifeline) => lifelineText(lifeline, heightPx)),
    ...rows.map(rowText),
    '</svg>\n',
  ].join('\n')
}

function styleText(theme: Theme | undefined): string {
  const first = palettes[theme ?? 'light']
  const other = theme === undefined ? palettes.dark : undefined
  const dashes = Object.entries(lineStyles).flatMap(([kind, dash]) =>
    dash === '' ? [] : [`.${kind} .l{stroke-dasharray:${dash}}`],
  )
  const shared = [
    'text{fill:var(--text);paint-order:stroke;stroke:var(--background);stroke-width:4px;stroke-linejoin:round}',
    '.bg{fill:var(--background)}',
    '.box rect{fill:var(--box);stroke:var(--dim)}.box text{font-weight:600;stroke:none}',
    '.box path{stroke:var(--dim);stroke-opacity:.5}',
    'text.t{fill:var(--dim);font-size:11px}',
    '.l{fill:none;stroke-width:1.5;stroke:currentColor}.h{fill:currentColor}',
    ...(Object.keys(lineStyles) as (Arrow | 'inferred')[]).map((kind) => `.${kind}{color:var(--${kind})}`),
    '.failure{color:var(--failure)}.failure .m{fill:var(--failure)}',
    ...dashes,
  ]
  const dark = other === undefined ? '' : `@media(prefers-color-scheme:dark){svg{${variablesText(other)}}}`
  return `svg{${variablesText(first)}}${dark}${shared.join('')}`
}

export const variablesText = (palette: DiagramPalette): string =>
  Object.entries(palette)
    .map(([name, color]) => `--${name}:${color}`)
    .join(';')

function lifelineText({ name, x, widthPx }: Lifeline, heightPx: number): string {
  const box = `<rect x="${x - widthPx / 2}" y="6" width="${widthPx}" height="${headerPx - 10}" rx="4"/>`
  return `<g class="box"><path d="M${x} ${headerPx - 4}V${heightPx}"/>${box}<text x="${x}" y="${headerPx - 12}" text-anchor="middle">${xmlText(name)}</text></g>`
}

function rowText(row: Row): string {
  const { message, time, y, lines, textX, anchor } = row
  const { line, head } = arrowPaths(row)
  const classes = message.hasFailed ? `${lineKind(message)} failure` : lineKind(message)
  const texts = lines.map(
    (each, at) =>
      `<text class="m" x="${textX}" y="${baseline(row, at)}"${anchor === 'middle' ? ' text-anchor="middle"' : ''}>${xmlText(each)}</text>`,
  )
  return `<g class="${classes}"><path class="l" d="${line}"/><path class="h" d="${head}"/><text class="t" x="8" y="${y + 4}">${time}</text>${texts.join('')}</g>`
}

/** The baseline of a line of a row's text. */
export const baseline = ({ top }: Row, line: number): number => top + (line + 1) * textLinePx - 3

/** Text in XML. Control characters, which XML does not allow, become a replacement character. */
export const xmlText = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    // oxlint-disable-next-line no-control-regex -- these are what is replaced
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, '\ufffd')
