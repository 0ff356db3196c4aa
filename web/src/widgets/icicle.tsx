// A tree of named amounts as an icicle: a node as wide as its share, its children below it. Click or Enter makes a node the
// root, the line above leads back.
import { useSignal } from "@preact/signals";
import type { Unit } from "../data/table.ts";
import { human, shortName } from "../format.ts";
import { Legend } from "./legend.tsx";

export interface TreeNode {
  name: string;
  value: number; // with what is below it
  children: TreeNode[];
  kind?: string; // names its colour
  title?: string; // more about it
  key?: string; // for who listens
}

const WIDTH = 1000, ROW = 20, MOST_DEPTH = 60, NARROWEST = 1.5, LABELLED = 40;

interface Placed { node: TreeNode; x: number; width: number; depth: number; path: TreeNode[] }

export function Icicle({ root, kinds = [], unit, label, search = "", onChoose, zoom, onZoom, inOrder = false, upwards = false }: {
  root: TreeNode;
  kinds?: readonly string[]; // that have a legend, those of them that are drawn
  unit: Unit;
  label: string;
  search?: string;
  onChoose?: (node: TreeNode) => void;
  zoom?: string; // the names below the root that lead to the node that is the widest, as JSON; with onZoom who shows it keeps it
  onZoom?: (zoom: string) => void;
  inOrder?: boolean; // children as they are given, not the widest first
  upwards?: boolean; // the root is at the bottom
}) {
  const own = useSignal("");
  const path = pathTo(root, zoom ?? own.value);
  const setPath = (nodes: TreeNode[]) => {
    const names = nodes.length < 2 ? "" : JSON.stringify(nodes.slice(1).map((node) => node.name));
    if (onZoom) onZoom(names);
    else own.value = names;
  };
  const top = path[path.length - 1]!;
  const placed: Placed[] = [];
  let hidden = 0;
  const place = (node: TreeNode, x: number, width: number, depth: number, above: TreeNode[]) => {
    if (width < NARROWEST || depth >= MOST_DEPTH) return void ++hidden;
    const own = [...above, node];
    placed.push({ node, x, width, depth, path: own });
    let at = x;
    for (const child of inOrder ? node.children : [...node.children].sort((a, b) => b.value - a.value)) {
      const share = node.value > 0 ? (child.value / node.value) * width : 0;
      place(child, at, share, depth + 1, own);
      at += share;
    }
  };
  place(top, 0, WIDTH, 0, path.slice(0, -1));
  const depth = placed.reduce((most, each) => Math.max(most, each.depth), 0);
  const height = (depth + 1) * ROW;
  const y = (each: Placed) => (upwards ? depth - each.depth : each.depth) * ROW;
  const drawn = new Set(placed.map((each) => each.node.kind));
  const word = search.toLowerCase();
  const choose = (each: Placed) => {
    setPath(each.path);
    onChoose?.(each.node);
  };
  return (
    <div class="icicle" role="group" aria-label={label}>
      <p class="path">
        {path.map((node, i) => (
          <button type="button" key={i} onClick={() => setPath(path.slice(0, i + 1))} title={node.name}>{shortName(node.name, 30)}</button>
        ))}
      </p>
      {kinds.length > 0 && <Legend kinds={kinds.filter((kind) => drawn.has(kind)).map((kind) => [kind, kind] as const)} />}
      <svg viewBox={`0 0 ${WIDTH} ${height}`} height={height} preserveAspectRatio="none" role="tree" aria-label={label}>
        {placed.map((each) => (
          <g key={each.path.map((node) => node.name).join("\n") + each.x} role="treeitem" aria-level={each.depth + 1} tabIndex={0}
            aria-label={`${each.node.name}: ${human(each.node.value, unit)}`}
            onClick={() => choose(each)} onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), choose(each))}>
            <rect class={`${each.node.kind ?? "operator"}${word !== "" && !each.node.name.toLowerCase().includes(word) ? " faded" : ""}`}
              x={each.x.toFixed(2)} y={y(each)} width={Math.max(0.5, each.width - 0.5).toFixed(2)} height={ROW - 1}>
              <title>{`${each.node.title ?? each.node.name}: ${human(each.node.value, unit)} (${each.node.value})`}</title>
            </rect>
          </g>
        ))}
      </svg>
      <IcicleLabels placed={placed} height={height} y={y} />
      {hidden > 0 && <p class="muted">{hidden} narrower or deeper than can be seen; choose what is around them to see them.</p>}
    </div>
  );
}

// The nodes from the root to the one that the names lead to, as far as they do.
function pathTo(root: TreeNode, zoom: string): TreeNode[] {
  const path = [root];
  for (const name of namesIn(zoom)) {
    const next = path[path.length - 1]!.children.find((child) => child.name === name);
    if (next === undefined) break;
    path.push(next);
  }
  return path;
}

// The names of a zoom, as the address has it.
export function namesIn(zoom: string): string[] {
  try {
    const names: unknown = JSON.parse(zoom || "[]");
    return Array.isArray(names) ? names.map(String) : [];
  } catch {
    return [];
  }
}

// Over the picture, since text in it would be stretched with it.
function IcicleLabels({ placed, height, y }: { placed: Placed[]; height: number; y: (each: Placed) => number }) {
  return (
    <div class="labels" aria-hidden="true" style={{ height: `${height}px`, marginTop: `-${height}px` }}>
      {placed.filter((each) => each.width >= LABELLED).map((each) => (
        <span key={each.path.length + each.node.name + each.x} class={`on-${each.node.kind ?? "operator"}`} style={{ left: `${(each.x / WIDTH) * 100}%`, width: `${(each.width / WIDTH) * 100}%`, top: `${y(each)}px` }}>
          {shortName(each.node.name, 60)}
        </span>
      ))}
    </div>
  );
}
