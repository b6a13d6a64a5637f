// markdownPage: the HTML of a page of the documentation. It reads the part of Markdown that the pages use; everything else is
// text. Nothing of a page becomes HTML unless it is written here.

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
export const escaped = (text) => text.replaceAll(/[&<>"]/g, (character) => entities[character])

/** As on GitHub, so that links to sections work in both. */
const slugOf = (text) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

/** Text without the marks of Markdown, for titles and the search. */
export const plainText = (source) =>
  source
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll('**', '')

/**
 * `linkOf` gives the target of each link. Returns the HTML, the title, and the sections with their anchors and text.
 */
export function markdownPage(source, linkOf) {
  const lines = source.replaceAll('\r\n', '\n').split('\n')
  const sections = []
  const slugs = new Map()
  const section = (level, text) => {
    const base = slugOf(plainText(text))
    const count = slugs.get(base) ?? 0
    slugs.set(base, count + 1)
    const anchor = count === 0 ? base : `${base}-${count}`
    sections.push({ level, anchor, title: plainText(text), text: [] })
    return anchor
  }
  const note = (text) => sections.at(-1)?.text.push(plainText(text))
  const html = blocks(lines, { inline: (text) => inline(text, linkOf), section, note })
  const title = sections.find(({ level }) => level === 1)?.title ?? sections[0]?.title ?? ''
  return { html, title, sections: sections.map((each) => ({ ...each, text: each.text.join(' ') })) }
}

const fence = /^ *```(.*)$/
const heading = /^(#{1,6}) +(.*)$/
const tableRow = /^ *\|/
const rule = /^ *\|[ :|-]+$/
const item = /^( *)(?:[-*]|(\d+)\.) +(.*)$/
const quote = /^> ?(.*)$/

function blocks(lines, tools) {
  const parts = []
  let at = 0
  const take = (matches) => {
    const from = at
    while (at < lines.length && matches(lines[at], at - from)) at++
    return lines.slice(from, at)
  }
  while (at < lines.length) {
    const line = lines[at]
    const [, language] = fence.exec(line) ?? []
    if (language !== undefined) {
      at++
      const code = take((each) => !fence.test(each))
      at++
      code.forEach(tools.note)
      const indent = /^ */.exec(line)[0].length
      const text = code.map((each) => each.slice(Math.min(indent, /^ */.exec(each)[0].length))).join('\n')
      parts.push(`<pre><code>${escaped(text)}\n</code></pre>`)
    } else if (heading.test(line)) {
      const [, marks, text] = heading.exec(line)
      const anchor = tools.section(marks.length, text)
      parts.push(`<h${marks.length} id="${escaped(anchor)}">${tools.inline(text)}</h${marks.length}>`)
      at++
    } else if (tableRow.test(line) && rule.test(lines[at + 1] ?? '')) {
      parts.push(
        table(
          take((each) => tableRow.test(each)),
          tools,
        ),
      )
    } else if (item.test(line)) {
      parts.push(
        list(
          take(
            (each, index) =>
              index === 0 ||
              item.test(each) ||
              /^ +\S/.test(each) ||
              (each === '' && /^ +\S/.test(lines[at + 1] ?? '')),
          ),
          tools,
        ),
      )
    } else if (quote.test(line)) {
      const inner = take((each) => quote.test(each)).map((each) => quote.exec(each)[1])
      parts.push(`<blockquote>${blocks(inner, tools)}</blockquote>`)
    } else if (line.trim() === '') at++
    else {
      const text = take((each, index) => index === 0 || !endsParagraph(each)).join('\n')
      tools.note(text)
      parts.push(`<p>${tools.inline(text)}</p>`)
    }
  }
  return parts.join('\n')
}

const endsParagraph = (line) =>
  line.trim() === '' ||
  fence.test(line) ||
  heading.test(line) ||
  tableRow.test(line) ||
  quote.test(line) ||
  item.test(line)

/** Cells are separated by bars that are neither escaped nor in code. */
const cellsOf = (row) =>
  row
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .match(/(?:`[^`]*`|\\.|[^|\\])*(?:\||$)/g)
    .map((cell) =>
      cell
        .replace(/\|$/, '')
        .replaceAll(String.raw`\|`, '|')
        .trim(),
    )
    .slice(0, -1)

function table([head, , ...rows], tools) {
  const row = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}>${tools.inline(cell)}</${tag}>`).join('')}</tr>`
  for (const each of [head, ...rows]) tools.note(cellsOf(each).join(' '))
  return `<table><thead>${row(cellsOf(head), 'th')}</thead><tbody>${rows.map((each) => row(cellsOf(each), 'td')).join('\n')}</tbody></table>`
}

function list(lines, tools) {
  const [, indent, number] = item.exec(lines[0])
  const items = []
  for (const line of lines) {
    const found = item.exec(line)
    if (found !== null && found[1].length <= indent.length) items.push([found[3]])
    else items.at(-1).push(line)
  }
  const tag = number === undefined ? 'ul' : 'ol'
  const inner = ([first, ...rest]) => {
    const depth = Math.min(...rest.filter((each) => each.trim() !== '').map((each) => /^ */.exec(each)[0].length))
    const html = blocks([first, ...rest.map((each) => each.slice(depth))], tools)
    return html.replace(/^<p>([^]*?)<\/p>/, '$1')
  }
  return `<${tag}>${items.map((each) => `<li>${inner(each)}</li>`).join('\n')}</${tag}>`
}

const spans =
  /(`+)([^]*?[^`])\1(?!`)|!\[([^\]]*)\]\(([^)\s]+)\)|\[((?:`[^`]*`|!\[[^\]]*\]\([^)]*\)|[^\]])*)\]\(([^)\s]+)\)|\*\*([^]+?)\*\*|(?<![\p{L}\p{N}*])\*([^*\s][^*]*)\*|<(https?:[^>\s]+)>/gu

function inline(text, linkOf) {
  let html = ''
  let at = 0
  for (const match of text.matchAll(spans)) {
    const [whole, , code, alternative, image, label, target, bold, italic, address] = match
    html += escaped(text.slice(at, match.index))
    at = match.index + whole.length
    if (code !== undefined) html += `<code>${escaped(code.trim())}</code>`
    else if (image !== undefined) html += `<img src="${escaped(linkOf(image))}" alt="${escaped(alternative)}">`
    else if (target !== undefined) html += `<a href="${escaped(linkOf(target))}">${inline(label, linkOf)}</a>`
    else if (bold !== undefined) html += `<strong>${inline(bold, linkOf)}</strong>`
    else if (italic !== undefined) html += `<em>${inline(italic, linkOf)}</em>`
    else html += `<a href="${escaped(address)}">${escaped(address)}</a>`
  }
  return html + escaped(text.slice(at))
}
