// The canvas: as many pixels as it needs, painted at most once for each frame of the display. Where a pixel of CSS is
// several of the device, it is painted in pixels of CSS while it moves, and sharply when it has stopped.
import { rectangles } from "./painter.ts";
import { Overlay } from "./overlay.ts";
import type { Scene } from "./scene.ts";
import { ScenePainter } from "./scene_pixels.ts";

const STOPPED_MS = 120;

export class Screen {
  private readonly canvas: HTMLCanvasElement;
  private readonly context: CanvasRenderingContext2D;
  private readonly painter = new ScenePainter();
  private readonly overlay = new Overlay();
  private readonly found = rectangles();
  private image?: ImageData;
  private scene?: Scene;
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private paints = 0;

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false })!;
    addEventListener("beforeprint", this.print);
  }

  show(scene: Scene): void {
    const moves = this.scene !== undefined && this.scene.window !== scene.window;
    this.scene = scene;
    const sharp = Math.min(window.devicePixelRatio || 1, 3);
    clearTimeout(this.timer);
    const ratio = moves ? Math.min(1, sharp) : sharp;
    if (ratio !== sharp) this.timer = setTimeout(() => this.request(sharp), STOPPED_MS);
    this.request(ratio);
  }

  // Then there is no further frame.
  private readonly print = (): void => {
    if (this.scene) this.paint(Math.min(window.devicePixelRatio || 1, 3));
  };

  dispose(): void {
    removeEventListener("beforeprint", this.print);
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
  }

  private request(ratio: number): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint(ratio));
  }

  private paint(ratio: number): void {
    const scene = this.scene!;
    const begin = performance.now();
    const width = Math.max(1, Math.round(scene.width * ratio));
    const height = Math.max(1, Math.round(scene.height * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    if (this.image?.width !== width || this.image.height !== height) this.image = this.context.createImageData(width, height);
    const pixels = new Uint32Array(this.image.data.buffer);
    const rows = this.painter.paint(scene, pixels, width, height, ratio, this.found);
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.putImageData(this.image, 0, 0);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.overlay.draw(this.context, scene, rows, this.found, ratio);
    // For who measures, and for tests: a picture does not tell its numbers.
    this.canvas.dataset.from = String(scene.window.from);
    this.canvas.dataset.to = String(scene.window.to);
    this.canvas.dataset.paintMs = (performance.now() - begin).toFixed(2);
    this.canvas.dataset.paints = String(++this.paints);
  }
}
