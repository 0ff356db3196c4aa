"""Small models, run under PyTorch's profiler and under its counter of flops. Run by a Python that has torch:

    flop_models.py FOLDER

writes FOLDER/NAME.json, a trace with shapes, for each model, and prints {NAME: facts} as JSON: `flops` by operator, as
torch.utils.flop_counter.FlopCounterMode counts them, and of each convolution with groups [flops of its weight's gradient,
groups].
"""

import json
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count


class Attention(nn.Module):
    def __init__(self, width=24, heads=4, causal=False):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width, bias=False)
        self.heads, self.causal = heads, causal

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=self.causal).transpose(1, 2).flatten(-2))


class Residual(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
                                  nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out))
        self.short = nn.Conv2d(channels, out, 1, stride, bias=False)

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x))


class Products(nn.Module):
    """The operators that multiply matrices, by name."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(5, 6, 7)), nn.Parameter(torch.randn(5, 7, 3))

    def forward(self, x):
        y = torch.bmm(self.a, self.b) + torch.baddbmm(torch.ones(5, 6, 3), self.a, self.b)
        z = torch.einsum("bij,bjk->bik", self.a, self.b) + torch.matmul(self.a, self.b[0])
        return y.sum() + z.sum() + torch.mm(x, x.t()).sum() + torch.addmm(torch.ones(4, 4), x, x.t(), beta=0.5).sum()


def transposed():
    return nn.Sequential(nn.ConvTranspose2d(6, 4, 3, 2, 1, 1), nn.GELU(), nn.ConvTranspose2d(4, 2, (3, 2), dilation=2),
                         nn.Flatten(2), nn.ConvTranspose1d(2, 3, 4, 3))


def grouped():
    return nn.Sequential(nn.Conv2d(8, 12, 3, groups=4), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1, groups=12), nn.ReLU(),
                         nn.ConvTranspose2d(12, 6, 2, 2, groups=3))


aten = torch.ops.aten
# The counter has no formula for attention on the CPU, so it is given those that it has for other devices.
ON_CPU = {
    aten._scaled_dot_product_flash_attention_for_cpu: lambda q, k, v, *rest, **named: sdpa_flop_count(q, k, v),
    aten._scaled_dot_product_flash_attention_for_cpu_backward:
        lambda grad, q, k, v, *rest, **named: sdpa_backward_flop_count(grad, q, k, v),
}
# name: model, input's size
MODELS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(20, 48), nn.GELU(), nn.LayerNorm(48), nn.Linear(48, 12), nn.Softmax(-1)), (16, 20)),
    "mlp of three axes": (lambda: nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 12, bias=False)), (2, 5, 20)),
    "products": (Products, (4, 9)),
    "residual": (lambda: nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3), Residual(8, 16, 2), Residual(16, 16, 1), nn.AdaptiveAvgPool2d(1),
                                       nn.Flatten(), nn.Linear(16, 10)), (2, 3, 33, 31)),
    "dilation": (lambda: nn.Sequential(nn.Conv2d(4, 6, 3, dilation=2, padding=(2, 1)), nn.ReLU(),
                                       nn.Conv2d(6, 3, (1, 5), (1, 3), padding=(0, 4), dilation=(1, 2))), (3, 4, 19, 23)),
    "one and three axes": (lambda: nn.Sequential(nn.Conv1d(4, 6, 5, 2, 1), nn.Unflatten(1, (2, 3)), nn.Unflatten(3, (3, 3)),
                                                 nn.Conv3d(2, 4, 2, padding=1)), (2, 4, 19)),
    "same padding": (lambda: nn.Sequential(nn.Conv2d(4, 6, 4, padding="same"), nn.Conv2d(6, 2, 3, padding="valid")), (2, 4, 9, 9)),
    "transposed": (transposed, (2, 6, 5, 7)),
    "groups": (grouped, (2, 8, 9, 9)),
    "attention": (Attention, (2, 11, 24)),
    "attention on the CPU": (Attention, (2, 11, 24)),
    "causal attention on the CPU": (lambda: Attention(causal=True), (2, 11, 24)),
    "transformer layer": (lambda: nn.TransformerEncoderLayer(24, 4, 48, dropout=0.0, batch_first=True), (2, 7, 24)),
    "LSTM": (lambda: nn.LSTMCell(6, 10), (3, 6)),
}


def loss_of(output):
    return (output[0] if isinstance(output, tuple) else output).sum()


def run(model, x):
    loss_of(model(x)).backward()


def of_grouped_weights(model, x):
    found = []

    def look(module, inputs, output):
        if isinstance(module, nn.Conv2d | nn.ConvTranspose2d) and module.groups > 1:
            places = inputs[0] if isinstance(module, nn.ConvTranspose2d) else output
            found.append([2 * places.shape[0] * places.shape[2] * places.shape[3] * module.weight.numel(), module.groups])

    handles = [module.register_forward_hook(look) for module in model.modules()]
    model(x)
    for handle in handles:
        handle.remove()
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(1)
    torch.set_num_threads(1)
    facts = {}
    for name, (make, size) in MODELS.items():
        model, x = make(), torch.randn(size, requires_grad=True)
        backend = SDPBackend.FLASH_ATTENTION if "on the CPU" in name else SDPBackend.MATH
        with sdpa_kernel(backend):
            run(model, x)
            with FlopCounterMode(display=False, custom_mapping=ON_CPU) as counter:
                run(model, x)
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profile:
                run(model, x)
        profile.export_chrome_trace(str(folder / f"{name}.json"))
        counted = {str(op): flops for op, flops in counter.get_flop_counts().get("Global", {}).items()}
        facts[name] = {"flops": counted, "grouped": of_grouped_weights(model, x)}
    print(json.dumps(facts))


main()
